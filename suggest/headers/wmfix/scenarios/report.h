/* What is printed about a run that no order explains: its calls as a table with a
   column for each thread, 80 columns wide, and why. */
#ifndef WMFIX_SCENARIOS_REPORT_H
#define WMFIX_SCENARIOS_REPORT_H

#include "judge.h"

enum { WMFIX_WIDTH = 80 };

WMFIX_OWN_ void wmfix_append_call(wmfix_text *to, const wmfix_operation *operation, const long long *arguments)
{
    wmfix_append(to, "%s(", operation->name);
    for (size_t i = 0; operation->parameters[i] != '\0'; ++i)
        wmfix_append(to, "%s%lld", i > 0 ? ", " : "", arguments[i]);
    wmfix_append(to, ")");
}

/* A call and what it gave; the caller frees it. */
WMFIX_OWN_ char *wmfix_call_text(const wmfix_answer *answer)
{
    wmfix_text text = {NULL, 0, 0};
    if (answer->operation == NULL)
        wmfix_append(&text, "finally");
    else
        wmfix_append_call(&text, answer->operation, answer->arguments);
    if (answer->text != NULL && answer->text[0] != '\0')
        wmfix_append(&text, " = %s", answer->text);
    return text.text;
}

/* `before: push(1), push(2)`, on as many lines as it takes. */
WMFIX_OWN_ void wmfix_append_row(wmfix_text *to, const char *title, const wmfix_answers *answers)
{
    size_t column = strlen(title) + 4;
    if (answers->count == 0)
        return;
    wmfix_append(to, "  %s: ", title);
    for (int i = 0; i < answers->count; ++i) {
        char *text = wmfix_call_text(&answers->list[i]);
        const char *comma = i + 1 < answers->count ? "," : "";
        if (i > 0 && column + strlen(text) + 2 > WMFIX_WIDTH) {
            wmfix_append(to, "\n    ");
            column = 4;
        }
        wmfix_append(to, "%s%s ", text, comma);
        column += strlen(text) + 2;
        free(text);
    }
    to->length -= 1; /* the last blank */
    to->text[to->length] = '\0';
    wmfix_append(to, "\n");
}

WMFIX_OWN_ void wmfix_append_cell(wmfix_text *to, const char *text, int width, int is_last)
{
    const int length = (int)strlen(text);
    if (length > width)
        wmfix_append(to, "%.*s...", width - 3, text);
    else
        wmfix_append(to, "%s", text);
    if (!is_last) {
        wmfix_append(to, "%*s | ", length > width ? 0 : width - length, "");
        return;
    }
    while (to->length > 0 && to->text[to->length - 1] == ' ')
        --to->length;
    wmfix_append(to, "\n");
}

WMFIX_OWN_ void wmfix_append_table(wmfix_text *to, const wmfix_scenario *scenario, const wmfix_outcome *outcome)
{
    int rows = 0, widest = 8;
    const int most = (WMFIX_WIDTH - 2) / scenario->threads - 3;
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i) {
            char *text = wmfix_call_text(&outcome->calls[thread][i]);
            const int length = (int)strlen(text);
            rows = i + 1 > rows ? i + 1 : rows;
            widest = length > widest ? length : widest;
            free(text);
        }
    widest = widest > most ? most : widest;
    wmfix_append_row(to, "before", &outcome->before);
    for (int row = -1; row < rows; ++row) {
        wmfix_append(to, "  ");
        for (int thread = 0; thread < scenario->threads; ++thread) {
            char title[20];
            char *text = NULL;
            snprintf(title, sizeof title, "thread %d", thread + 1);
            if (row >= 0 && row < scenario->counts[thread])
                text = wmfix_call_text(&outcome->calls[thread][row]);
            wmfix_append_cell(to, row < 0 ? title : text == NULL ? "" : text, widest,
                              thread + 1 == scenario->threads);
            free(text);
        }
    }
    wmfix_append_row(to, "after", &outcome->after);
}

/* The value that a call took, as text; NULL if it is none of an operation that takes:
   without parameters, and able to say that nothing is left. */
WMFIX_OWN_ const char *wmfix_taken(const wmfix_answer *answer)
{
    const wmfix_operation *operation = answer->operation;
    if (operation == NULL || answer->refused || !operation->can_refuse || operation->parameters[0] != '\0')
        return NULL;
    return answer->text;
}

/* How often a value was taken by the calls of a run. */
WMFIX_OWN_ int wmfix_times_taken(const wmfix_scenario *scenario, const wmfix_outcome *outcome, const char *value)
{
    int times = 0;
    const wmfix_answers *quiet[2];
    quiet[0] = &outcome->before;
    quiet[1] = &outcome->after;
    for (int part = 0; part < 2; ++part)
        for (int i = 0; i < quiet[part]->count; ++i) {
            const char *taken = wmfix_taken(&quiet[part]->list[i]);
            times += taken != NULL && strcmp(taken, value) == 0;
        }
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i) {
            const char *taken = wmfix_taken(&outcome->calls[thread][i]);
            times += taken != NULL && strcmp(taken, value) == 0;
        }
    return times;
}

/* The most often that any order that was run takes a value. */
WMFIX_OWN_ int wmfix_most_taken(const wmfix_node *node, const char *value)
{
    int own = 0, most = 0;
    for (int i = 0; i < node->returned_count; ++i) {
        const char *taken = wmfix_taken(&node->answers[i]);
        own += taken != NULL && strcmp(taken, value) == 0;
    }
    for (int i = 0; node->after != NULL && i < node->after->count; ++i) {
        const char *taken = wmfix_taken(&node->after->list[i]);
        most += taken != NULL && strcmp(taken, value) == 0;
    }
    for (int id = 0; id < WMFIX_CALL_IDS; ++id)
        if (node->children[id] != NULL) {
            const int times = wmfix_most_taken(node->children[id], value);
            most = times > most ? times : most;
        }
    return own + most;
}

/* `3 was taken twice`, where that is what happened; 0 if it is not. No order that was
   run may take it more than once. */
WMFIX_OWN_ int wmfix_append_taken_twice(wmfix_text *to, const wmfix_scenario *scenario,
                                        const wmfix_outcome *outcome, const wmfix_orders *orders)
{
    long long most = 0;
    wmfix_scenario numbered = *scenario;
    for (int i = 0; i < numbered.before_count; ++i)
        most += (long long)strlen(numbered.before[i].operation->parameters);
    for (int thread = 0; thread < numbered.threads; ++thread)
        for (int i = 0; i < numbered.counts[thread]; ++i)
            most += (long long)strlen(numbered.calls[thread][i].operation->parameters);
    for (long long value = 1; value <= most; ++value) {
        char text[30];
        snprintf(text, sizeof text, "%lld", value);
        if (wmfix_times_taken(scenario, outcome, text) > 1 && wmfix_most_taken(&orders->root, text) <= 1) {
            wmfix_append(to, "%s was taken twice", text);
            return 1;
        }
    }
    return 0;
}

/* The nearest order, and the first result that differs in it. */
WMFIX_OWN_ void wmfix_append_nearest(wmfix_text *to, const wmfix_scenario *scenario,
                                     const wmfix_judgement *judgement)
{
    wmfix_append(to, judgement->nearest_length > 0 ? "the nearest order, " : "without them");
    for (int i = 0; i < judgement->nearest_length; ++i) {
        const int thread = judgement->nearest[i] / WMFIX_MAX_CALLS;
        const wmfix_step *step = &scenario->calls[thread][judgement->nearest[i] % WMFIX_MAX_CALLS];
        wmfix_append(to, "%s", i > 0 ? ", " : "");
        wmfix_append_call(to, step->operation, step->arguments);
    }
    if (judgement->there == NULL || judgement->seen == NULL) {
        wmfix_append(to, ", leaves another number of values\n");
    } else {
        char *there = wmfix_call_text(judgement->there);
        wmfix_append(to, ", has %s instead of %s\n", there, judgement->seen->text);
        free(there);
    }
}

/* Why a run is wrong: in a few words, as a table, and what the nearest order gives. The
   caller frees it. */
WMFIX_OWN_ char *wmfix_failure_text(const wmfix_scenario *scenario, const wmfix_outcome *outcome,
                                    const wmfix_orders *orders, const wmfix_judgement *judgement)
{
    wmfix_text text = {NULL, 0, 0};
    char *name = wmfix_name(scenario);
    wmfix_append(&text, "scenario %s failed: ", name);
    free(name);
    if (judgement->verdict == WMFIX_EXPECTATION_FAILED) {
        wmfix_append(&text, "the expectation at %s does not hold\n", outcome->expectation);
        wmfix_append_table(&text, scenario, outcome);
    } else if (judgement->verdict == WMFIX_REFUSED_FOR_NO_REASON) {
        const wmfix_answer *seen = &outcome->calls[judgement->refused_thread][judgement->refused_call];
        char *call = wmfix_call_text(seen);
        wmfix_append(&text, "nothing explains %s\n", call);
        wmfix_append_table(&text, scenario, outcome);
        wmfix_append(&text, "no order that holds the earlier calls of thread %d refuses that\n",
                     judgement->refused_thread + 1);
        free(call);
    } else {
        if (!wmfix_append_taken_twice(&text, scenario, outcome, orders))
            wmfix_append(&text, "no order of the calls explains these results");
        wmfix_append(&text, "\n");
        wmfix_append_table(&text, scenario, outcome);
        wmfix_append_nearest(&text, scenario, judgement);
    }
    return text.text;
}

#endif
