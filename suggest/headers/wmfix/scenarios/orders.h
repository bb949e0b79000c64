/* Runs of a scenario that make one call after the other: the same threads, each of
   which goes on when it is its turn. What an order gave is kept in a tree, whose
   edges are calls, so that no order is run twice. */
#ifndef WMFIX_SCENARIOS_ORDERS_H
#define WMFIX_SCENARIOS_ORDERS_H

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

enum {
    WMFIX_CALL_IDS = WMFIX_MAX_THREADS * WMFIX_MAX_CALLS,
    WMFIX_WAITING_MS = 20,      /* a call that takes longer waits for another one */
    WMFIX_NEVER_RETURNS_MS = 10000
};

/* A call within a scenario, as a number. */
WMFIX_OWN_ int wmfix_call_id(int thread, int index)
{
    return thread * WMFIX_MAX_CALLS + index;
}

/* What is known after the calls on the way from the root. */
typedef struct wmfix_node {
    struct wmfix_node *children[WMFIX_CALL_IDS];
    /* The calls that returned in this step: this one, unless it waits, and those that
       it let go on. */
    int returned_count;
    int returned[WMFIX_MAX_THREADS];
    wmfix_answer answers[WMFIX_MAX_THREADS];
    wmfix_answers *after; /* what the part after gave here, if it was run here */
} wmfix_node;

/* A scenario with everything that its orders gave so far. */
typedef struct wmfix_orders {
    const wmfix_scenario *scenario;
    wmfix_node root;
    wmfix_answers *before;
    long runs;
    int differs; /* the same order gave two results */
    int stuck;   /* in some order calls wait, and no other is left */
} wmfix_orders;

typedef struct wmfix_turn_worker {
    struct wmfix_turns *turns;
    int thread;
} wmfix_turn_worker;

/* A run that is under way. */
typedef struct wmfix_turns {
    pthread_mutex_t lock;
    pthread_cond_t given[WMFIX_MAX_THREADS];
    pthread_cond_t returned;
    const wmfix_scenario *scenario;
    wmfix_world world;
    int counts[WMFIX_MAX_THREADS]; /* the calls of each thread in this order */
    int calls[WMFIX_MAX_THREADS][WMFIX_MAX_CALLS];
    int begun[WMFIX_MAX_THREADS]; /* that were let go on */
    int done[WMFIX_MAX_THREADS];
    int seen[WMFIX_MAX_THREADS]; /* whose results were taken */
    wmfix_result results[WMFIX_MAX_THREADS][WMFIX_MAX_CALLS];
    char expectations[WMFIX_MAX_THREADS][WMFIX_EXPECTATION_SIZE];
    wmfix_turn_worker workers[WMFIX_MAX_THREADS];
} wmfix_turns;

WMFIX_OWN_ void *wmfix_work_in_turn(void *argument)
{
    wmfix_turn_worker *worker = (wmfix_turn_worker *)argument;
    wmfix_turns *turns = worker->turns;
    const int thread = worker->thread;
    wmfix_belongings belongings;
    memset(&belongings, 0, sizeof belongings);
    wmfix_thread_number = thread + 1;
    wmfix_expectation = turns->expectations[thread];
    for (int i = 0; i < turns->counts[thread]; ++i) {
        const int call = turns->calls[thread][i];
        pthread_mutex_lock(&turns->lock);
        while (turns->begun[thread] == i)
            pthread_cond_wait(&turns->given[thread], &turns->lock);
        pthread_mutex_unlock(&turns->lock);
        if (i == 0)
            wmfix_create_own(&turns->world, &belongings);
        wmfix_make_call(&turns->scenario->calls[thread][call], &turns->world, &belongings,
                        &turns->results[thread][call]);
        if (i + 1 == turns->counts[thread])
            wmfix_destroy_own(&belongings);
        pthread_mutex_lock(&turns->lock);
        turns->done[thread] = i + 1;
        pthread_cond_signal(&turns->returned);
        pthread_mutex_unlock(&turns->lock);
    }
    return NULL;
}

/* Waits until a thread has returned from all that it has begun; 0 if that takes longer. */
WMFIX_OWN_ int wmfix_await(wmfix_turns *turns, int thread, int milliseconds)
{
    struct timespec until;
    int timed_out = 0;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        ++until.tv_sec;
    }
    while (turns->done[thread] < turns->begun[thread] && !timed_out)
        timed_out = pthread_cond_timedwait(&turns->returned, &turns->lock, &until) == ETIMEDOUT;
    return turns->done[thread] == turns->begun[thread];
}

WMFIX_OWN_ int wmfix_same(const wmfix_answer *one, const wmfix_answer *other)
{
    return one->refused == other->refused && strcmp(one->text, other->text) == 0;
}

/* Notes what a step gave at its node, which may know it already. */
WMFIX_OWN_ void wmfix_note_step(wmfix_orders *orders, wmfix_turns *turns, wmfix_node *node, int is_known)
{
    int count = 0;
    for (int thread = 0; thread < orders->scenario->threads; ++thread)
        for (; turns->seen[thread] < turns->done[thread]; ++turns->seen[thread]) {
            const int call = turns->calls[thread][turns->seen[thread]];
            wmfix_answer answer;
            wmfix_answer_of(&orders->scenario->calls[thread][call], &turns->results[thread][call], &answer);
            if (!is_known) {
                node->returned[count] = wmfix_call_id(thread, call);
                node->answers[count] = answer;
            } else {
                orders->differs |= count >= node->returned_count ||
                                   node->returned[count] != wmfix_call_id(thread, call) ||
                                   !wmfix_same(&node->answers[count], &answer);
                free(answer.text);
            }
            ++count;
        }
    if (!is_known)
        node->returned_count = count;
}

/* A call did not return, and is not flagged as one that may wait. */
WMFIX_OWN_ __attribute__((noreturn)) void wmfix_never_returned(const wmfix_operation *operation)
{
    fprintf(stderr,
            "scenarios: a call of %s did not return within %d s, with no other call under way:\n"
            "flag it `waits` if it waits for another call\n",
            operation->name, (int)WMFIX_NEVER_RETURNS_MS / 1000);
    fflush(NULL);
    _exit(2);
}

/* One step: lets the thread of a call make it, and waits until it has returned or waits. */
WMFIX_OWN_ void wmfix_take_turn(wmfix_orders *orders, wmfix_turns *turns, int id)
{
    const int thread = id / WMFIX_MAX_CALLS;
    const wmfix_operation *operation = orders->scenario->calls[thread][id % WMFIX_MAX_CALLS].operation;
    const int may_wait = (operation->flags & WMFIX_WAITS) != 0;
    ++turns->begun[thread];
    pthread_cond_signal(&turns->given[thread]);
    if (!wmfix_await(turns, thread, may_wait ? (int)WMFIX_WAITING_MS : (int)WMFIX_NEVER_RETURNS_MS) && !may_wait)
        wmfix_never_returned(operation);
    for (int other = 0; other < orders->scenario->threads; ++other)
        if (other != thread && turns->done[other] < turns->begun[other])
            wmfix_await(turns, other, WMFIX_WAITING_MS);
}

WMFIX_OWN_ wmfix_turns *wmfix_new_turns(const wmfix_scenario *scenario, const int *wanted)
{
    wmfix_turns *turns = (wmfix_turns *)wmfix_allocate(sizeof *turns);
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->returned, NULL);
    turns->scenario = scenario;
    for (int thread = 0; thread < scenario->threads; ++thread) {
        pthread_cond_init(&turns->given[thread], NULL);
        for (int call = 0; call < scenario->counts[thread]; ++call)
            if (wanted[wmfix_call_id(thread, call)])
                turns->calls[thread][turns->counts[thread]++] = call;
        turns->workers[thread].turns = turns;
        turns->workers[thread].thread = thread;
    }
    return turns;
}

WMFIX_OWN_ void wmfix_free_turns(wmfix_turns *turns)
{
    for (int i = 0; i < turns->scenario->threads; ++i)
        pthread_cond_destroy(&turns->given[i]);
    pthread_cond_destroy(&turns->returned);
    pthread_mutex_destroy(&turns->lock);
    free(turns);
}

/* A call that can be made now: the first of the first thread that does not wait; -1 if
   there is none. */
WMFIX_OWN_ int wmfix_next_call(const wmfix_turns *turns)
{
    for (int thread = 0; thread < turns->scenario->threads; ++thread)
        if (turns->begun[thread] == turns->done[thread] && turns->begun[thread] < turns->counts[thread])
            return wmfix_call_id(thread, turns->calls[thread][turns->begun[thread]]);
    return -1;
}

/* Makes the wanted calls one after the other, those of the path first; says where in
   the tree that ended. */
WMFIX_OWN_ wmfix_node *wmfix_make_calls(wmfix_orders *orders, wmfix_turns *turns, const int *path, int length)
{
    wmfix_node *node = &orders->root;
    for (int i = 0;; ++i) {
        const int id = i < length ? path[i] : wmfix_next_call(turns);
        wmfix_node **child;
        int is_known;
        if (id < 0)
            return node;
        child = &node->children[id];
        is_known = *child != NULL;
        wmfix_take_turn(orders, turns, id);
        if (!is_known)
            *child = (wmfix_node *)wmfix_allocate(sizeof **child);
        node = *child;
        wmfix_note_step(orders, turns, node, is_known);
    }
}

/* Makes all wanted calls one after the other, those of the path first, then the part
   after if `ends`, and keeps in the tree what they gave. */
WMFIX_OWN_ void wmfix_run_order(wmfix_orders *orders, const int *wanted, const int *path, int length, int ends)
{
    const wmfix_scenario *scenario = orders->scenario;
    wmfix_turns *turns = wmfix_new_turns(scenario, wanted);
    wmfix_answers *before = (wmfix_answers *)wmfix_allocate(sizeof *before);
    pthread_t threads[WMFIX_MAX_THREADS];
    char expectation[WMFIX_EXPECTATION_SIZE] = "";
    wmfix_node *node;
    int stuck = 0;
    ++orders->runs;
    wmfix_expectation = expectation;
    wmfix_create_world(&turns->world);
    wmfix_run_before(scenario, &turns->world, before);
    for (int i = 0; i < scenario->threads; ++i)
        wmfix_start_thread(&threads[i], wmfix_work_in_turn, &turns->workers[i]);
    pthread_mutex_lock(&turns->lock);
    node = wmfix_make_calls(orders, turns, path, length);
    for (int i = 0; i < scenario->threads; ++i)
        stuck |= turns->done[i] < turns->counts[i];
    pthread_mutex_unlock(&turns->lock);
    if (orders->before == NULL) {
        orders->before = before;
    } else {
        wmfix_free_answers(before);
        free(before);
    }
    if (stuck) {
        /* Whoever waits goes on using all of it. */
        orders->stuck = 1;
        for (int i = 0; i < scenario->threads; ++i)
            pthread_detach(threads[i]);
        return;
    }
    for (int i = 0; i < scenario->threads; ++i)
        pthread_join(threads[i], NULL);
    if (ends && node->after == NULL) {
        node->after = (wmfix_answers *)wmfix_allocate(sizeof *node->after);
        wmfix_run_after(scenario, &turns->world, node->after);
    }
    wmfix_destroy_world(&turns->world);
    wmfix_expectation = NULL;
    wmfix_free_turns(turns);
}

WMFIX_OWN_ void wmfix_free_node(wmfix_node *node)
{
    for (int i = 0; i < WMFIX_CALL_IDS; ++i)
        if (node->children[i] != NULL) {
            wmfix_free_node(node->children[i]);
            free(node->children[i]);
        }
    for (int i = 0; i < node->returned_count; ++i)
        free(node->answers[i].text);
    if (node->after != NULL)
        wmfix_free_answers(node->after);
    free(node->after);
}

WMFIX_OWN_ void wmfix_free_orders(wmfix_orders *orders)
{
    wmfix_free_node(&orders->root);
    if (orders->before != NULL)
        wmfix_free_answers(orders->before);
    free(orders->before);
}

#endif
