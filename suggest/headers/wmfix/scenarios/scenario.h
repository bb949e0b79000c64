/* A scenario, and its short name: `2push:push+pop/pop` is two calls of push before,
   and then a thread that calls push and pop beside one that calls pop. A key
   follows its call: `insert@1`. */
#ifndef WMFIX_SCENARIOS_SCENARIO_H
#define WMFIX_SCENARIOS_SCENARIO_H

#include "declare.h"

typedef struct wmfix_step {
    const wmfix_operation *operation;
    long long arguments[WMFIX_MAX_PARAMETERS];
} wmfix_step;

typedef struct wmfix_scenario {
    int before_count;
    wmfix_step before[WMFIX_MAX_BEFORE];
    int threads;
    int counts[WMFIX_MAX_THREADS];
    wmfix_step calls[WMFIX_MAX_THREADS][WMFIX_MAX_CALLS];
} wmfix_scenario;

/* Text that grows. */
typedef struct wmfix_text {
    char *text;
    size_t length, size;
} wmfix_text;

WMFIX_OWN_ __attribute__((format(printf, 2, 3))) void wmfix_append(wmfix_text *to, const char *format, ...)
{
    va_list arguments, again;
    int length;
    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    if (to->length + (size_t)length + 1 > to->size) {
        to->size = 2 * (to->length + (size_t)length + 1);
        to->text = (char *)realloc(to->text, to->size);
        if (to->text == NULL)
            wmfix_wrong("no memory");
    }
    vsnprintf(to->text + to->length, (size_t)length + 1, format, again);
    va_end(again);
    to->length += (size_t)length;
}

/* The keys are chosen; every value gets a number that no other has. */
WMFIX_OWN_ void wmfix_number_step(wmfix_step *step, long long *next)
{
    const char *parameters = step->operation->parameters;
    for (size_t i = 0; parameters[i] != '\0'; ++i)
        if (parameters[i] == 'v')
            step->arguments[i] = (*next)++;
        else if (step->arguments[i] == 0)
            step->arguments[i] = 1;
}

WMFIX_OWN_ void wmfix_number_values(wmfix_scenario *scenario)
{
    long long next = 1;
    for (int i = 0; i < scenario->before_count; ++i)
        wmfix_number_step(&scenario->before[i], &next);
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i)
            wmfix_number_step(&scenario->calls[thread][i], &next);
}

WMFIX_OWN_ void wmfix_append_name(wmfix_text *to, const wmfix_step *step)
{
    const char *parameters = step->operation->parameters;
    wmfix_append(to, "%s", step->operation->name);
    for (size_t i = 0; parameters[i] != '\0'; ++i)
        if (parameters[i] == 'k')
            wmfix_append(to, "@%lld", step->arguments[i]);
}

WMFIX_OWN_ void wmfix_append_names(wmfix_text *to, const wmfix_step *steps, int count)
{
    wmfix_text last = {NULL, 0, 0};
    for (int i = 0, repeated = 1; i < count; i += repeated, repeated = 1) {
        last.length = 0;
        wmfix_append_name(&last, &steps[i]);
        for (int j = i + 1; j < count; ++j, ++repeated) {
            wmfix_text other = {NULL, 0, 0};
            int same;
            wmfix_append_name(&other, &steps[j]);
            same = strcmp(other.text, last.text) == 0;
            free(other.text);
            if (!same)
                break;
        }
        wmfix_append(to, "%s", i > 0 ? "+" : "");
        if (repeated > 1)
            wmfix_append(to, "%d", repeated);
        wmfix_append(to, "%s", last.text);
    }
    free(last.text);
}

/* The name of a scenario; the caller frees it. */
WMFIX_OWN_ char *wmfix_name(const wmfix_scenario *scenario)
{
    wmfix_text name = {NULL, 0, 0};
    if (scenario->before_count > 0) {
        wmfix_append_names(&name, scenario->before, scenario->before_count);
        wmfix_append(&name, ":");
    }
    for (int thread = 0; thread < scenario->threads; ++thread) {
        wmfix_append(&name, "%s", thread > 0 ? "/" : "");
        wmfix_append_names(&name, scenario->calls[thread], scenario->counts[thread]);
    }
    return name.text;
}

/* Reads calls up to `end`; says how many, or -1 if that is no list of calls. */
WMFIX_OWN_ int wmfix_parse_calls(const char *text, const char *end, wmfix_step *steps, int most)
{
    int count = 0;
    while (text < end) {
        int repeated = 0;
        size_t length = 0;
        wmfix_step step;
        memset(&step, 0, sizeof step);
        while (text < end && *text >= '0' && *text <= '9' && repeated < 1000)
            repeated = 10 * repeated + (*text++ - '0');
        while (text + length < end && strchr("+@", text[length]) == NULL)
            ++length;
        step.operation = wmfix_find_operation(text, length);
        if (step.operation == NULL)
            return -1;
        text += length;
        for (size_t i = 0; step.operation->parameters[i] != '\0'; ++i)
            if (step.operation->parameters[i] == 'k' && text < end && *text == '@') {
                char *after;
                step.arguments[i] = strtoll(text + 1, &after, 10);
                text = after;
            }
        for (int i = 0; i < (repeated == 0 ? 1 : repeated); ++i) {
            if (count == most)
                return -1;
            steps[count++] = step;
        }
        if (text < end && *text++ != '+')
            return -1;
    }
    return count;
}

/* The scenario of a name; 0 if there is none. */
WMFIX_OWN_ int wmfix_parse(const char *name, wmfix_scenario *scenario)
{
    const char *colon = strchr(name, ':');
    memset(scenario, 0, sizeof *scenario);
    if (colon != NULL) {
        scenario->before_count =
            wmfix_parse_calls(name, colon, scenario->before, WMFIX_MAX_BEFORE);
        name = colon + 1;
    }
    for (;;) {
        const char *end = name + strcspn(name, "/");
        int count;
        if (scenario->before_count < 0 || scenario->threads == WMFIX_MAX_THREADS)
            return 0;
        count = wmfix_parse_calls(name, end, scenario->calls[scenario->threads], WMFIX_MAX_CALLS);
        if (count < 1)
            return 0;
        scenario->counts[scenario->threads++] = count;
        if (*end == '\0')
            break;
        name = end + 1;
    }
    wmfix_number_values(scenario);
    return 1;
}

#endif
