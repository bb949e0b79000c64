/* One run of a scenario with its threads at the same time. Nothing of the harness
   orders two of these threads: each has a log of its own, which is read when all
   have been joined. Values become text after that. */
#ifndef WMFIX_SCENARIOS_RUN_H
#define WMFIX_SCENARIOS_RUN_H

#include <pthread.h>
#include <sched.h>

#include "scenario.h"

/* What a call gave, as text. */
typedef struct wmfix_answer {
    const wmfix_operation *operation; /* NULL: the look at the quiet object */
    long long arguments[WMFIX_MAX_PARAMETERS];
    int refused;
    char *text;
} wmfix_answer;

/* The calls of one thread in a row on the same object, as in the parts before and after. */
typedef struct wmfix_answers {
    int count;
    wmfix_answer list[WMFIX_MAX_AFTER];
} wmfix_answers;

/* All that a run of a scenario gave. */
typedef struct wmfix_outcome {
    wmfix_answers before;
    wmfix_answer calls[WMFIX_MAX_THREADS][WMFIX_MAX_CALLS];
    wmfix_answers after;
    char expectation[WMFIX_EXPECTATION_SIZE]; /* where one failed */
} wmfix_outcome;

/* The objects of one run. */
typedef struct wmfix_world {
    void *objects[WMFIX_MAX_OBJECTS];
} wmfix_world;

/* What WMFIX_THREAD made for one thread. */
typedef struct wmfix_belongings {
    void *own[WMFIX_MAX_OBJECTS];
} wmfix_belongings;

WMFIX_OWN_ void wmfix_create_world(wmfix_world *world)
{
    for (int i = 0; i < wmfix_object_count; ++i)
        world->objects[i] = wmfix_objects[i].create();
}

WMFIX_OWN_ void wmfix_destroy_world(wmfix_world *world)
{
    for (int i = wmfix_object_count; i-- > 0;)
        wmfix_objects[i].destroy(world->objects[i]);
}

WMFIX_OWN_ void wmfix_create_own(const wmfix_world *world, wmfix_belongings *belongings)
{
    for (int i = 0; i < wmfix_object_count; ++i)
        if (wmfix_objects[i].create_own != NULL)
            belongings->own[i] = wmfix_objects[i].create_own(world->objects[i]);
}

WMFIX_OWN_ void wmfix_destroy_own(wmfix_belongings *belongings)
{
    for (int i = wmfix_object_count; i-- > 0;)
        if (wmfix_objects[i].create_own != NULL)
            wmfix_objects[i].destroy_own(belongings->own[i]);
}

WMFIX_OWN_ void wmfix_make_call(const wmfix_step *step, const wmfix_world *world,
                                const wmfix_belongings *belongings, wmfix_result *result)
{
    wmfix_call call;
    call.object = world->objects[step->operation->object];
    call.own = belongings->own[step->operation->object];
    call.arguments = step->arguments;
    call.result = result;
    step->operation->run(step->operation, &call);
}

/* Makes text of a result, which is no longer needed then. */
WMFIX_OWN_ void wmfix_render(const wmfix_operation *operation, wmfix_result *result, char **text, int *refused)
{
    char buffer[400] = "";
    switch (result->kind) {
    case WMFIX_SIGNED:
        snprintf(buffer, sizeof buffer, "%lld", result->number);
        break;
    case WMFIX_UNSIGNED:
        snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)result->number);
        break;
    case WMFIX_TRUTH:
        snprintf(buffer, sizeof buffer, "%s", result->number != 0 ? "true" : "false");
        break;
    case WMFIX_BOXED:
        result->print(result->box, buffer, sizeof buffer);
        result->drop(result->box);
        break;
    default:
        break;
    }
    *refused = result->refused;
    if (operation != NULL && operation->has_refusal && result->kind >= WMFIX_SIGNED && result->kind <= WMFIX_TRUTH)
        *refused = result->number == operation->refusal;
    *text = wmfix_copy(buffer);
}

WMFIX_OWN_ void wmfix_answer_of(const wmfix_step *step, wmfix_result *result, wmfix_answer *answer)
{
    answer->operation = step->operation;
    memcpy(answer->arguments, step->arguments, sizeof step->arguments);
    wmfix_render(step->operation, result, &answer->text, &answer->refused);
}

/* Makes a call while nothing else runs, and adds what it gave. */
WMFIX_OWN_ int wmfix_call_alone(const wmfix_step *step, const wmfix_world *world,
                                const wmfix_belongings *belongings, wmfix_answers *answers)
{
    wmfix_result result;
    memset(&result, 0, sizeof result);
    wmfix_make_call(step, world, belongings, &result);
    if (answers->count == WMFIX_MAX_AFTER)
        wmfix_wrong("a scenario has more than %d calls after its threads", (int)WMFIX_MAX_AFTER);
    wmfix_answer_of(step, &result, &answers->list[answers->count]);
    return answers->list[answers->count++].refused;
}

WMFIX_OWN_ void wmfix_run_before(const wmfix_scenario *scenario, const wmfix_world *world,
                                 wmfix_answers *answers)
{
    wmfix_belongings belongings;
    if (scenario->before_count == 0)
        return;
    memset(&belongings, 0, sizeof belongings);
    wmfix_create_own(world, &belongings);
    for (int i = 0; i < scenario->before_count; ++i)
        wmfix_call_alone(&scenario->before[i], world, &belongings, answers);
    wmfix_destroy_own(&belongings);
}

WMFIX_OWN_ int wmfix_calls_of(const wmfix_scenario *scenario)
{
    int count = scenario->before_count;
    for (int thread = 0; thread < scenario->threads; ++thread)
        count += scenario->counts[thread];
    return count;
}

/* Whether the part after makes calls of an operation: those that take or ask. */
WMFIX_OWN_ int wmfix_asks(const wmfix_operation *operation)
{
    return operation->has_result && strchr(operation->parameters, 'v') == NULL &&
           (operation->flags & (WMFIX_WAITS | WMFIX_ONCE | WMFIX_UNJUDGED)) == 0;
}

/* The part after: what is left is taken out, and everything is asked. */
WMFIX_OWN_ void wmfix_run_after(const wmfix_scenario *scenario, const wmfix_world *world,
                                wmfix_answers *answers)
{
    const int most = wmfix_calls_of(scenario) + 1;
    wmfix_belongings belongings;
    memset(&belongings, 0, sizeof belongings);
    wmfix_create_own(world, &belongings);
    for (const wmfix_operation *operation = wmfix_operations; operation != NULL; operation = operation->next) {
        wmfix_step step;
        memset(&step, 0, sizeof step);
        step.operation = operation;
        if (!wmfix_asks(operation) || answers->count + most > WMFIX_MAX_AFTER - WMFIX_MAX_OBJECTS)
            continue;
        if (operation->parameters[0] != '\0') {
            for (long long key = 1; key <= 2; ++key) {
                for (size_t i = 0; operation->parameters[i] != '\0'; ++i)
                    step.arguments[i] = key;
                wmfix_call_alone(&step, world, &belongings, answers);
            }
            continue;
        }
        for (int i = 0; i < most; ++i)
            if (wmfix_call_alone(&step, world, &belongings, answers) || !operation->can_refuse)
                break;
    }
    wmfix_destroy_own(&belongings);
    for (int i = 0; i < wmfix_object_count; ++i) {
        wmfix_result result;
        wmfix_answer *answer = &answers->list[answers->count];
        if (wmfix_objects[i].finally == NULL)
            continue;
        memset(&result, 0, sizeof result);
        wmfix_objects[i].finally(world->objects[i], &result);
        memset(answer, 0, sizeof *answer);
        wmfix_render(NULL, &result, &answer->text, &answer->refused);
        ++answers->count;
    }
}

/* One thread of a run. */
typedef struct wmfix_worker {
    const wmfix_scenario *scenario;
    const wmfix_world *world;
    int thread;
    int *go; /* NULL: it begins at once */
    wmfix_result results[WMFIX_MAX_CALLS];
    char expectation[WMFIX_EXPECTATION_SIZE];
} wmfix_worker;

WMFIX_OWN_ void *wmfix_work(void *argument)
{
    wmfix_worker *worker = (wmfix_worker *)argument;
    const wmfix_scenario *scenario = worker->scenario;
    wmfix_belongings belongings;
    memset(&belongings, 0, sizeof belongings);
    wmfix_thread_number = worker->thread + 1;
    wmfix_expectation = worker->expectation;
    /* Relaxed, so that starting together orders nothing. */
    while (worker->go != NULL && !__atomic_load_n(worker->go, __ATOMIC_RELAXED))
        sched_yield();
    wmfix_create_own(worker->world, &belongings);
    for (int i = 0; i < scenario->counts[worker->thread]; ++i)
        wmfix_make_call(&scenario->calls[worker->thread][i], worker->world, &belongings,
                        &worker->results[i]);
    wmfix_destroy_own(&belongings);
    return NULL;
}

WMFIX_OWN_ void wmfix_start_thread(pthread_t *thread, void *(*work)(void *), void *argument)
{
    if (pthread_create(thread, NULL, work, argument) != 0)
        wmfix_wrong("cannot start a thread");
}

/* Runs a scenario once. `together` has the threads wait for each other to begin with,
   for systems that start them slowly. */
WMFIX_OWN_ void wmfix_run(const wmfix_scenario *scenario, int together, wmfix_outcome *outcome)
{
    wmfix_world world;
    wmfix_worker workers[WMFIX_MAX_THREADS];
    pthread_t threads[WMFIX_MAX_THREADS];
    int go = 0;
    memset(outcome, 0, sizeof *outcome);
    memset(workers, 0, sizeof workers);
    wmfix_expectation = outcome->expectation;
    wmfix_create_world(&world);
    wmfix_run_before(scenario, &world, &outcome->before);
    for (int i = 0; i < scenario->threads; ++i) {
        workers[i].scenario = scenario;
        workers[i].world = &world;
        workers[i].thread = i;
        workers[i].go = together ? &go : NULL;
        wmfix_start_thread(&threads[i], wmfix_work, &workers[i]);
    }
    if (together)
        __atomic_store_n(&go, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < scenario->threads; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < scenario->threads; ++i) {
        for (int j = 0; j < scenario->counts[i]; ++j)
            wmfix_answer_of(&scenario->calls[i][j], &workers[i].results[j], &outcome->calls[i][j]);
        if (outcome->expectation[0] == '\0')
            memcpy(outcome->expectation, workers[i].expectation, sizeof outcome->expectation);
    }
    wmfix_run_after(scenario, &world, &outcome->after);
    wmfix_destroy_world(&world);
}

WMFIX_OWN_ void wmfix_free_answers(wmfix_answers *answers)
{
    for (int i = 0; i < answers->count; ++i)
        free(answers->list[i].text);
    answers->count = 0;
}

WMFIX_OWN_ void wmfix_free_outcome(wmfix_outcome *outcome)
{
    wmfix_free_answers(&outcome->before);
    wmfix_free_answers(&outcome->after);
    for (int i = 0; i < WMFIX_MAX_THREADS; ++i)
        for (int j = 0; j < WMFIX_MAX_CALLS; ++j) {
            free(outcome->calls[i][j].text);
            outcome->calls[i][j].text = NULL;
        }
}

#endif
