/* Whether some order of the calls explains what a run gave: each thread's own order is
   kept, and a call gives in it what it gave in the run.

   A refusal (full, empty, busy) is not part of that order. It needs one of its own, in
   which its thread's earlier calls and any first calls of the other threads come before
   it and give what they gave: a bounded ring is right and yet refuses both ways at once,
   and no order of all calls explains that. A refusal of a strict operation, and any in
   the parts before and after, counts like every other result. */
#ifndef WMFIX_SCENARIOS_JUDGE_H
#define WMFIX_SCENARIOS_JUDGE_H

#include "orders.h"

enum wmfix_verdict {
    WMFIX_EXPLAINED,
    WMFIX_EXPECTATION_FAILED,
    WMFIX_NO_ORDER,
    WMFIX_REFUSED_FOR_NO_REASON
};

/* What the judge came to. */
typedef struct wmfix_judgement {
    enum wmfix_verdict verdict;
    int refused_thread, refused_call; /* of the refusal that nothing explains */
    /* The order that explains most, and the first result that differs in it. */
    int nearest[WMFIX_CALL_IDS];
    int nearest_length;
    int matched; /* how many results are as they were */
    const wmfix_answer *there, *seen; /* NULL: they differ in how much is left */
} wmfix_judgement;

typedef struct wmfix_search {
    wmfix_orders *orders;
    const wmfix_outcome *outcome;
    wmfix_judgement *judgement;
    int wanted[WMFIX_CALL_IDS];
    int begun[WMFIX_CALL_IDS];
    int returned[WMFIX_CALL_IDS];
    int path[WMFIX_CALL_IDS];
    int length;
    int refusal; /* the call that is to be refused, or -1 */
} wmfix_search;

WMFIX_OWN_ const wmfix_answer *wmfix_seen(const wmfix_outcome *outcome, int id)
{
    return &outcome->calls[id / WMFIX_MAX_CALLS][id % WMFIX_MAX_CALLS];
}

WMFIX_OWN_ int wmfix_matches(const wmfix_answer *there, const wmfix_answer *seen)
{
    const wmfix_operation *operation = seen->operation;
    return (operation != NULL && (operation->flags & WMFIX_UNJUDGED) != 0) || wmfix_same(there, seen);
}

/* Whether a call is outside of the common order. */
WMFIX_OWN_ int wmfix_stands_alone(const wmfix_answer *seen)
{
    return seen->refused && (seen->operation->flags & (WMFIX_STRICT | WMFIX_UNJUDGED)) == 0;
}

/* Notes how far an order agrees, if none was nearer. */
WMFIX_OWN_ void wmfix_note_nearest(wmfix_search *search, int matched, const wmfix_answer *there,
                                   const wmfix_answer *seen)
{
    wmfix_judgement *judgement = search->judgement;
    if (search->refusal >= 0 || matched < judgement->matched)
        return;
    if (matched == judgement->matched && judgement->nearest_length > 0)
        return;
    judgement->matched = matched;
    judgement->there = there;
    judgement->seen = seen;
    judgement->nearest_length = search->length;
    memcpy(judgement->nearest, search->path, sizeof search->path);
}

/* Whether the part after gave the same. */
WMFIX_OWN_ int wmfix_ends_alike(wmfix_search *search, const wmfix_answers *after)
{
    const wmfix_answers *seen = &search->outcome->after;
    for (int i = 0; i < after->count && i < seen->count; ++i)
        if (after->list[i].operation != seen->list[i].operation ||
            !wmfix_matches(&after->list[i], &seen->list[i])) {
            wmfix_note_nearest(search, search->length + i, &after->list[i], &seen->list[i]);
            return 0;
        }
    if (after->count != seen->count)
        wmfix_note_nearest(search, search->length + seen->count, NULL, NULL);
    return after->count == seen->count;
}

/* Whether what returned in a step is what was seen. `sign` adds it or takes it away. */
WMFIX_OWN_ int wmfix_mark_returned(wmfix_search *search, const wmfix_node *node, int sign)
{
    int alike = 1;
    for (int i = 0; i < node->returned_count; ++i) {
        const int id = node->returned[i];
        search->returned[id] += sign;
        if (id != search->refusal && !wmfix_matches(&node->answers[i], wmfix_seen(search->outcome, id))) {
            if (sign > 0)
                wmfix_note_nearest(search, search->length - 1, &node->answers[i],
                                   wmfix_seen(search->outcome, id));
            alike = 0;
        }
    }
    return alike;
}

/* Whether the call that is to be refused was refused in this step. */
WMFIX_OWN_ int wmfix_refused_here(const wmfix_search *search, const wmfix_node *node)
{
    for (int i = 0; i < node->returned_count; ++i)
        if (node->returned[i] == search->refusal)
            return wmfix_same(&node->answers[i], wmfix_seen(search->outcome, search->refusal));
    return 0;
}

/* The next call of a thread, if it can be made now; else -1. */
WMFIX_OWN_ int wmfix_next_of(const wmfix_search *search, int thread)
{
    for (int call = 0; call < search->orders->scenario->counts[thread]; ++call) {
        const int id = wmfix_call_id(thread, call);
        if (!search->wanted[id])
            continue;
        if (!search->begun[id])
            return id;
        if (!search->returned[id])
            return -1;
    }
    return -1;
}

WMFIX_OWN_ int wmfix_explore(wmfix_search *search, wmfix_node *node);

/* Goes on with a call. */
WMFIX_OWN_ int wmfix_explore_call(wmfix_search *search, wmfix_node *node, int id)
{
    wmfix_node *child;
    int found = 0;
    search->path[search->length++] = id;
    search->begun[id] = 1;
    if (node->children[id] == NULL)
        wmfix_run_order(search->orders, search->wanted, search->path, search->length, search->refusal < 0);
    child = node->children[id];
    if (wmfix_mark_returned(search, child, 1)) {
        if (search->refusal >= 0 && search->returned[search->refusal])
            found = wmfix_refused_here(search, child);
        else
            found = wmfix_explore(search, child);
    }
    wmfix_mark_returned(search, child, -1);
    search->begun[id] = 0;
    --search->length;
    return found;
}

/* Whether some way on from here explains the outcome. */
WMFIX_OWN_ int wmfix_explore(wmfix_search *search, wmfix_node *node)
{
    int is_over = 1;
    for (int thread = 0; thread < search->orders->scenario->threads; ++thread) {
        const int id = wmfix_next_of(search, thread);
        is_over &= id < 0;
        if (id >= 0 && wmfix_explore_call(search, node, id))
            return 1;
    }
    if (!is_over || search->refusal >= 0)
        return 0;
    for (int id = 0; id < WMFIX_CALL_IDS; ++id)
        if (search->begun[id] && !search->returned[id])
            return 0; /* It waits for ever. */
    /* Whoever was here before may have gone on to a refusal. */
    if (node->after == NULL)
        wmfix_run_order(search->orders, search->wanted, search->path, search->length, 1);
    return wmfix_ends_alike(search, node->after);
}

/* Searches an order of the calls of the common order and of `refusal`, if that is none. */
WMFIX_OWN_ int wmfix_find_order(wmfix_orders *orders, const wmfix_outcome *outcome, int refusal,
                                wmfix_judgement *judgement)
{
    const wmfix_scenario *scenario = orders->scenario;
    wmfix_search search;
    memset(&search, 0, sizeof search);
    search.orders = orders;
    search.outcome = outcome;
    search.judgement = judgement;
    search.refusal = refusal;
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int call = 0; call < scenario->counts[thread]; ++call) {
            const int id = wmfix_call_id(thread, call);
            search.wanted[id] = id == refusal || !wmfix_stands_alone(wmfix_seen(outcome, id));
        }
    return wmfix_explore(&search, &orders->root);
}

/* Whether the part before gave the same. */
WMFIX_OWN_ int wmfix_begins_alike(const wmfix_orders *orders, const wmfix_outcome *outcome,
                                  wmfix_judgement *judgement)
{
    for (int i = 0; i < outcome->before.count; ++i) {
        judgement->there = &orders->before->list[i];
        judgement->seen = &outcome->before.list[i];
        judgement->nearest_length = 0;
        if (!wmfix_matches(judgement->there, judgement->seen))
            return 0;
    }
    return 1;
}

/* Judges what a run gave. */
WMFIX_OWN_ void wmfix_judge(wmfix_orders *orders, const wmfix_outcome *outcome, wmfix_judgement *judgement)
{
    const wmfix_scenario *scenario = orders->scenario;
    memset(judgement, 0, sizeof *judgement);
    judgement->verdict = WMFIX_EXPECTATION_FAILED;
    if (outcome->expectation[0] != '\0')
        return;
    judgement->verdict = WMFIX_NO_ORDER;
    if (!wmfix_find_order(orders, outcome, -1, judgement) || !wmfix_begins_alike(orders, outcome, judgement))
        return;
    judgement->verdict = WMFIX_REFUSED_FOR_NO_REASON;
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int call = 0; call < scenario->counts[thread]; ++call) {
            const wmfix_answer *seen = &outcome->calls[thread][call];
            judgement->refused_thread = thread;
            judgement->refused_call = call;
            if (wmfix_stands_alone(seen) && (seen->operation->flags & WMFIX_REFUSES) == 0 &&
                !wmfix_find_order(orders, outcome, wmfix_call_id(thread, call), judgement))
                return;
        }
    judgement->verdict = WMFIX_EXPLAINED;
}

#endif
