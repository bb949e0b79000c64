/* Which scenarios there are: smallest first, up to the order of the threads and the
   names of values and keys, with the roles respected. Which operations put something in
   that others take out, and how much an object holds, is tried out. */
#ifndef WMFIX_SCENARIOS_ENUMERATE_H
#define WMFIX_SCENARIOS_ENUMERATE_H

#include "run.h"

enum {
    WMFIX_HELD_UNBOUNDED = 2, /* put in before, where an object never says that it is full */
    WMFIX_HELD_MOST = 4,      /* of one that holds more, this much is put in */
    WMFIX_MAX_PARTS_BEFORE = 64,
    WMFIX_MOST_CALLS_THAT_WAIT = 4 /* larger scenarios have no calls that may wait */
};

typedef struct wmfix_part_before {
    int count;
    const wmfix_operation *operations[WMFIX_MAX_BEFORE];
} wmfix_part_before;

typedef struct wmfix_enumeration {
    int part_count;
    wmfix_part_before parts[WMFIX_MAX_PARTS_BEFORE];
    /* Takes a scenario; 0 ends the enumeration. */
    int (*take)(const wmfix_scenario *scenario, void *context);
    void *context;
    int is_over;
    wmfix_scenario scenario;
} wmfix_enumeration;

/* Makes these calls on fresh objects; says whether the last one was refused. */
WMFIX_OWN_ int wmfix_try_calls(const wmfix_operation *first, int repeated, const wmfix_operation *last)
{
    wmfix_world world;
    wmfix_belongings belongings;
    wmfix_answers answers;
    char expectation[WMFIX_EXPECTATION_SIZE] = "";
    long long next = 1;
    int refused = 0;
    memset(&answers, 0, sizeof answers);
    memset(&belongings, 0, sizeof belongings);
    wmfix_expectation = expectation;
    wmfix_create_world(&world);
    wmfix_create_own(&world, &belongings);
    for (int i = 0; i <= repeated; ++i) {
        wmfix_step step;
        memset(&step, 0, sizeof step);
        step.operation = i < repeated ? first : last;
        wmfix_number_step(&step, &next);
        refused = wmfix_call_alone(&step, &world, &belongings, &answers);
    }
    wmfix_destroy_own(&belongings);
    wmfix_destroy_world(&world);
    wmfix_free_answers(&answers);
    wmfix_expectation = NULL;
    return refused;
}

WMFIX_OWN_ int wmfix_may_be_tried(const wmfix_operation *operation)
{
    return (operation->flags & (WMFIX_WAITS | WMFIX_ONCE)) == 0;
}

/* An operation that takes out what `put` puts in: refused before, and not after. NULL
   if there is none. */
WMFIX_OWN_ const wmfix_operation *wmfix_taker_of(const wmfix_operation *put)
{
    if (!wmfix_may_be_tried(put))
        return NULL;
    for (const wmfix_operation *take = wmfix_operations; take != NULL; take = take->next)
        if (take != put && take->can_refuse && take->object == put->object && wmfix_may_be_tried(take) &&
            strchr(take->parameters, 'v') == NULL && wmfix_try_calls(put, 0, take) && !wmfix_try_calls(put, 1, take))
            return take;
    return NULL;
}

/* How many calls of `put` an object takes, as far as the parts before go. */
WMFIX_OWN_ int wmfix_held(const wmfix_operation *put)
{
    if (put->can_refuse)
        for (int count = 1; count <= 2 * WMFIX_HELD_MOST; ++count)
            if (wmfix_try_calls(put, count, put))
                return count > WMFIX_HELD_MOST ? (int)WMFIX_HELD_MOST : count;
    return WMFIX_HELD_UNBOUNDED;
}

WMFIX_OWN_ void wmfix_repeat(wmfix_part_before *part, const wmfix_operation *operation, int times)
{
    for (int i = 0; i < times && part->count < WMFIX_MAX_BEFORE; ++i)
        part->operations[part->count++] = operation;
}

WMFIX_OWN_ wmfix_part_before *wmfix_add_part(wmfix_enumeration *all)
{
    wmfix_part_before *part = &all->parts[all->part_count];
    if (all->part_count + 1 < WMFIX_MAX_PARTS_BEFORE)
        ++all->part_count;
    part->count = 0;
    return part;
}

/* What a part before may do with an operation. */
typedef struct wmfix_filler {
    const wmfix_operation *put, *take; /* `take` may be NULL */
    int held;
} wmfix_filler;

/* Adds the parts before with this many calls: so many put in, or everything put in and
   taken out once before that, so that slots are used again. */
WMFIX_OWN_ void wmfix_add_parts_before(wmfix_enumeration *all, const wmfix_filler *filler, int calls)
{
    const int held = filler->held;
    wmfix_part_before *part;
    if (calls <= held)
        wmfix_repeat(wmfix_add_part(all), filler->put, calls);
    if (filler->take == NULL || filler->take->parameters[0] != '\0' || calls < 2 * held || calls > 3 * held)
        return;
    part = wmfix_add_part(all);
    wmfix_repeat(part, filler->put, held);
    wmfix_repeat(part, filler->take, held);
    wmfix_repeat(part, filler->put, calls - 2 * held);
}

/* All parts before, the shortest first. */
WMFIX_OWN_ void wmfix_find_parts_before(wmfix_enumeration *all)
{
    wmfix_filler fillers[WMFIX_MAX_BEFORE];
    int count = 0;
    for (const wmfix_operation *put = wmfix_operations; put != NULL; put = put->next) {
        wmfix_filler *filler = &fillers[count];
        if (!wmfix_may_be_tried(put) || count == WMFIX_MAX_BEFORE)
            continue;
        filler->put = put;
        filler->take = wmfix_taker_of(put);
        filler->held = filler->take != NULL ? wmfix_held(put) : 1;
        if (filler->take != NULL || strchr(put->parameters, 'v') != NULL)
            ++count;
    }
    wmfix_add_part(all);
    for (int calls = 1; calls <= 3 * WMFIX_HELD_MOST; ++calls)
        for (int i = 0; i < count; ++i)
            wmfix_add_parts_before(all, &fillers[i], calls);
}

/* Whether a scenario has no more threads of a role than there may be, and no more calls
   of an operation. */
WMFIX_OWN_ int wmfix_is_allowed(const wmfix_scenario *scenario)
{
    int calls = 0, may_wait = 0;
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i) {
            const wmfix_operation *operation = scenario->calls[thread][i].operation;
            int threads = 0, times = 0;
            for (int other = 0; other < scenario->threads; ++other) {
                int has_role = 0;
                for (int j = 0; j < scenario->counts[other]; ++j) {
                    has_role |= strcmp(scenario->calls[other][j].operation->role, operation->role) == 0;
                    times += scenario->calls[other][j].operation == operation;
                }
                threads += has_role;
            }
            if (threads > wmfix_threads_of_role(operation->role) ||
                ((operation->flags & WMFIX_ONCE) != 0 && times > 1))
                return 0;
            may_wait |= (operation->flags & WMFIX_WAITS) != 0;
            ++calls;
        }
    return !may_wait || calls <= WMFIX_MOST_CALLS_THAT_WAIT;
}

/* Whether the keys of a scenario are named in the order in which they come. */
WMFIX_OWN_ int wmfix_keys_in_order(const wmfix_scenario *scenario)
{
    for (int i = 0; i < scenario->before_count; ++i)
        if (strchr(scenario->before[i].operation->parameters, 'k') != NULL)
            return 1; /* Key 1 is there. */
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i) {
            const wmfix_step *step = &scenario->calls[thread][i];
            for (size_t j = 0; step->operation->parameters[j] != '\0'; ++j)
                if (step->operation->parameters[j] == 'k')
                    return step->arguments[j] == 1;
        }
    return 1;
}

/* Compares the calls of two threads, so that of two that differ in their numbers alone
   one is made. */
WMFIX_OWN_ int wmfix_compare_threads(const wmfix_scenario *scenario, int one, int other)
{
    if (scenario->counts[one] != scenario->counts[other])
        return scenario->counts[other] - scenario->counts[one];
    for (int i = 0; i < scenario->counts[one]; ++i) {
        const wmfix_step *a = &scenario->calls[one][i], *b = &scenario->calls[other][i];
        if (a->operation != b->operation) {
            for (const wmfix_operation *at = wmfix_operations;; at = at->next)
                if (at == a->operation || at == b->operation)
                    return at == a->operation ? -1 : 1;
        }
        for (size_t j = 0; a->operation->parameters[j] != '\0'; ++j)
            if (a->operation->parameters[j] == 'k' && a->arguments[j] != b->arguments[j])
                return a->arguments[j] < b->arguments[j] ? -1 : 1;
    }
    return 0;
}

WMFIX_OWN_ void wmfix_offer(wmfix_enumeration *all)
{
    if (all->is_over)
        return;
    for (int thread = 1; thread < all->scenario.threads; ++thread)
        if (wmfix_compare_threads(&all->scenario, thread - 1, thread) > 0)
            return;
    if (!wmfix_is_allowed(&all->scenario) || !wmfix_keys_in_order(&all->scenario))
        return;
    wmfix_number_values(&all->scenario);
    all->is_over |= !all->take(&all->scenario, all->context);
}

WMFIX_OWN_ void wmfix_fill_calls(wmfix_enumeration *all, int thread, int call);

/* Chooses keys for the parameters of a call from `parameter` on. */
WMFIX_OWN_ void wmfix_fill_keys(wmfix_enumeration *all, int thread, int call, size_t parameter)
{
    wmfix_step *step = &all->scenario.calls[thread][call];
    const char kind = step->operation->parameters[parameter];
    if (kind == '\0') {
        wmfix_fill_calls(all, thread, call + 1);
    } else if (kind != 'k') {
        wmfix_fill_keys(all, thread, call, parameter + 1);
    } else {
        for (long long key = 1; key <= 2; ++key) {
            step->arguments[parameter] = key;
            wmfix_fill_keys(all, thread, call, parameter + 1);
        }
    }
}

/* Chooses the calls of all threads from this one on. */
WMFIX_OWN_ void wmfix_fill_calls(wmfix_enumeration *all, int thread, int call)
{
    if (call == all->scenario.counts[thread]) {
        ++thread;
        call = 0;
    }
    if (thread == all->scenario.threads) {
        wmfix_offer(all);
        return;
    }
    for (const wmfix_operation *operation = wmfix_operations; operation != NULL && !all->is_over;
         operation = operation->next) {
        memset(&all->scenario.calls[thread][call], 0, sizeof(wmfix_step));
        all->scenario.calls[thread][call].operation = operation;
        wmfix_fill_keys(all, thread, call, 0);
    }
}

/* Chooses how many calls each thread makes: the first ones make most. */
WMFIX_OWN_ void wmfix_share_calls(wmfix_enumeration *all, int thread, int rest, int most)
{
    const int left = all->scenario.threads - thread;
    if (left == 0) {
        if (rest == 0)
            wmfix_fill_calls(all, 0, 0);
        return;
    }
    for (int count = rest < most ? rest : most; count >= 1 && !all->is_over; --count) {
        all->scenario.counts[thread] = count;
        wmfix_share_calls(all, thread + 1, rest - count, count);
    }
}

/* Takes the scenarios with so many calls at the same time, and so many before. */
WMFIX_OWN_ void wmfix_take_size(wmfix_enumeration *all, int calls, int before)
{
    for (int threads = 2; threads <= WMFIX_MAX_THREADS; ++threads)
        for (int i = 0; i < all->part_count && !all->is_over; ++i) {
            const wmfix_part_before *part = &all->parts[i];
            if (part->count != before)
                continue;
            memset(&all->scenario, 0, sizeof all->scenario);
            all->scenario.threads = threads;
            all->scenario.before_count = part->count;
            for (int j = 0; j < part->count; ++j)
                all->scenario.before[j].operation = part->operations[j];
            wmfix_share_calls(all, 0, calls, WMFIX_MAX_CALLS);
        }
}

/* Gives all scenarios to `take`, until that says that it is enough. A call before has half
   the weight of one that others may meet. */
WMFIX_OWN_ void wmfix_enumerate(int (*take)(const wmfix_scenario *, void *), void *context)
{
    const int most = WMFIX_MAX_THREADS * WMFIX_MAX_CALLS;
    wmfix_enumeration *all = (wmfix_enumeration *)wmfix_allocate(sizeof *all);
    all->take = take;
    all->context = context;
    wmfix_find_parts_before(all);
    for (int size = 4; size <= 2 * most + WMFIX_MAX_BEFORE; ++size)
        for (int calls = 2; calls <= most && 2 * calls <= size; ++calls)
            wmfix_take_size(all, calls, size - 2 * calls);
    free(all);
}

#endif
