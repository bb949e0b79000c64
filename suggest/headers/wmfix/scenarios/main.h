/* The program: which scenarios are run, how often, and where what they gave is judged.

   By itself it runs many scenarios, each several times, with the system's threads.
   Under wmfix a run of it is one run of one scenario, and what that gave is judged by
   another process of the same program, which wmfix does not watch: the orders that are
   tried out then are no part of the run. */
#ifndef WMFIX_SCENARIOS_MAIN_H
#define WMFIX_SCENARIOS_MAIN_H

#include <fcntl.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "enumerate.h"
#include "report.h"

extern char **environ;

enum {
    WMFIX_USUAL_LIST = 40,       /* scenarios that wmfix tries */
    WMFIX_USUAL_SCENARIOS = 100, /* and that a run without it makes */
    WMFIX_USUAL_RUNS = 20,       /* of each of them */
    WMFIX_RUNS_OF_ONE = 2000,    /* of one that is named */
    WMFIX_MAX_ARGUMENTS = 200
};

enum { WMFIX_PASSED = 0, WMFIX_FAILED = 1, WMFIX_USAGE = 2, WMFIX_NOT_JUDGED = 3 };

/* wmfix finds scenario programs by this text. */
static const char *volatile wmfix_mark = "wmfix-scenarios:1";

/* Whether wmfix runs this, as its runtime decides it. */
WMFIX_OWN_ int wmfix_is_watched(void)
{
    return getenv("WMFIX_OUT") != NULL || getenv("WMFIX_STRATEGY") != NULL ||
           getenv("WMFIX_SEED") != NULL || getenv("WMFIX_REPLAY") != NULL;
}

/* Runs this program with other arguments, without wmfix; gives its exit code, or -1 if a
   signal ended it. */
WMFIX_OWN_ int wmfix_run_apart(char **arguments)
{
    static const char *const names[] = {"WMFIX_OUT=", "WMFIX_STRATEGY=", "WMFIX_SEED=", "WMFIX_REPLAY="};
    size_t count = 0, kept = 0;
    char **variables;
    pid_t child;
    int status, started;
    while (environ[count] != NULL)
        ++count;
    variables = (char **)wmfix_allocate((count + 1) * sizeof *variables);
    for (size_t i = 0; i < count; ++i) {
        int is_kept = 1;
        for (size_t j = 0; j < sizeof names / sizeof *names; ++j)
            is_kept &= strncmp(environ[i], names[j], strlen(names[j])) != 0;
        if (is_kept)
            variables[kept++] = environ[i];
    }
    fflush(NULL);
    started = posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, variables);
    free(variables);
    if (started != 0)
        wmfix_wrong("cannot start this program again: %s", strerror(started));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            wmfix_wrong("cannot wait for this program: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

WMFIX_OWN_ int wmfix_follow_orders(wmfix_orders *orders, const int *wanted, wmfix_node *node, int *path, int length)
{
    for (int thread = 0; thread < orders->scenario->threads && !orders->stuck; ++thread)
        for (int call = 0; call < orders->scenario->counts[thread]; ++call) {
            const int id = wmfix_call_id(thread, call);
            int begun = 0, can_begin = 1;
            for (int i = 0; i < length; ++i) {
                begun |= path[i] == id;
                can_begin += path[i] / WMFIX_MAX_CALLS == thread;
            }
            if (begun || can_begin != call + 1)
                continue;
            path[length] = id;
            /* A thread that waits cannot make it: then it is no order. */
            if (node->children[id] == NULL)
                wmfix_run_order(orders, wanted, path, length + 1, 0);
            if (!orders->stuck && node->children[id] != NULL)
                wmfix_follow_orders(orders, wanted, node->children[id], path, length + 1);
        }
    return orders->stuck;
}

/* Whether some order of the calls ends in a call that waits for ever. Threads that do
   are left behind: this is for a process of its own. */
WMFIX_OWN_ int wmfix_gets_stuck(const wmfix_scenario *scenario)
{
    wmfix_orders orders;
    int wanted[WMFIX_CALL_IDS], path[WMFIX_CALL_IDS];
    memset(&orders, 0, sizeof orders);
    orders.scenario = scenario;
    for (int id = 0; id < WMFIX_CALL_IDS; ++id)
        wanted[id] = 1;
    return wmfix_follow_orders(&orders, wanted, &orders.root, path, 0);
}

WMFIX_OWN_ int wmfix_has_calls_that_wait(const wmfix_scenario *scenario)
{
    int found = 0;
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i)
            found |= (scenario->calls[thread][i].operation->flags & WMFIX_WAITS) != 0;
    return found;
}

/* Whether a scenario can be run: none of its orders gets stuck. */
WMFIX_OWN_ int wmfix_can_be_run(const wmfix_scenario *scenario)
{
    char program[] = "scenarios", option[] = "--orders";
    char *arguments[4];
    int code;
    if (!wmfix_has_calls_that_wait(scenario))
        return 1;
    arguments[0] = program;
    arguments[1] = option;
    arguments[2] = wmfix_name(scenario);
    arguments[3] = NULL;
    code = wmfix_run_apart(arguments);
    free(arguments[2]);
    return code == WMFIX_PASSED;
}

/* The outcomes that one process hands to another: an argument for each call. */
typedef struct wmfix_list {
    int count;
    char *list[WMFIX_MAX_ARGUMENTS + 1];
} wmfix_list;

WMFIX_OWN_ void wmfix_add_answer(wmfix_list *to, const wmfix_answer *answer)
{
    wmfix_text text = {NULL, 0, 0};
    wmfix_append(&text, "%c", answer->refused ? 'r' : 'n');
    if (answer->operation == NULL)
        wmfix_append(&text, "()");
    else
        wmfix_append_call(&text, answer->operation, answer->arguments);
    wmfix_append(&text, "%s", answer->text);
    to->list[to->count++] = text.text;
}

WMFIX_OWN_ void wmfix_list_outcome(wmfix_list *to, const wmfix_scenario *scenario, const wmfix_outcome *outcome)
{
    to->list[to->count++] = wmfix_copy(outcome->expectation);
    for (int i = 0; i < outcome->before.count; ++i)
        wmfix_add_answer(to, &outcome->before.list[i]);
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i)
            wmfix_add_answer(to, &outcome->calls[thread][i]);
    for (int i = 0; i < outcome->after.count; ++i)
        wmfix_add_answer(to, &outcome->after.list[i]);
}

/* Reads an answer back; 0 if it is none. */
WMFIX_OWN_ int wmfix_read_answer(const char *text, wmfix_answer *answer)
{
    const char *open = strchr(text, '('), *at;
    if (open == NULL)
        return 0;
    answer->refused = *text == 'r';
    answer->operation = open == text + 1 ? NULL : wmfix_find_operation(text + 1, (size_t)(open - text - 1));
    if (answer->operation == NULL && open != text + 1)
        return 0;
    at = open + 1;
    for (int i = 0; *at != ')' && i < WMFIX_MAX_PARAMETERS; ++i) {
        char *end;
        answer->arguments[i] = strtoll(at, &end, 10);
        at = end + strspn(end, ", ");
    }
    if (*at != ')')
        return 0;
    answer->text = wmfix_copy(at + 1);
    return 1;
}

WMFIX_OWN_ int wmfix_read_outcome(char **from, int count, const wmfix_scenario *scenario, wmfix_outcome *outcome)
{
    int next = 1;
    if (count < 1 + wmfix_calls_of(scenario))
        return 0;
    snprintf(outcome->expectation, sizeof outcome->expectation, "%s", from[0]);
    for (; outcome->before.count < scenario->before_count; ++outcome->before.count)
        if (!wmfix_read_answer(from[next++], &outcome->before.list[outcome->before.count]))
            return 0;
    for (int thread = 0; thread < scenario->threads; ++thread)
        for (int i = 0; i < scenario->counts[thread]; ++i)
            if (!wmfix_read_answer(from[next++], &outcome->calls[thread][i]) ||
                outcome->calls[thread][i].operation == NULL)
                return 0;
    for (; next < count && outcome->after.count < WMFIX_MAX_AFTER; ++outcome->after.count)
        if (!wmfix_read_answer(from[next++], &outcome->after.list[outcome->after.count]))
            return 0;
    return next == count;
}

/* Judges an outcome, and prints why it is wrong, if it is. */
WMFIX_OWN_ int wmfix_judge_here(wmfix_orders *orders, const wmfix_outcome *outcome, const char *program)
{
    wmfix_judgement judgement;
    char *text;
    wmfix_judge(orders, outcome, &judgement);
    if (judgement.verdict == WMFIX_EXPLAINED)
        return WMFIX_PASSED;
    text = wmfix_failure_text(orders->scenario, outcome, orders, &judgement);
    if (orders->differs && judgement.verdict != WMFIX_EXPECTATION_FAILED) {
        fprintf(stderr, "scenarios: the same calls in the same order give different results, so this is "
                        "not judged:\n%s", text);
        free(text);
        return WMFIX_NOT_JUDGED;
    }
    fflush(stdout);
    fprintf(stderr, "%s", text);
    if (program != NULL) {
        char *name = wmfix_name(orders->scenario);
        fprintf(stderr, "again: %s --scenario %s\n", program, name);
        free(name);
    }
    free(text);
    return WMFIX_FAILED;
}

/* `--judge NAME ANSWER…` */
WMFIX_OWN_ int wmfix_judge_given(const wmfix_scenario *scenario, char **from, int count)
{
    wmfix_outcome outcome;
    wmfix_orders orders;
    memset(&outcome, 0, sizeof outcome);
    memset(&orders, 0, sizeof orders);
    orders.scenario = scenario;
    if (!wmfix_read_outcome(from, count, scenario, &outcome))
        wmfix_wrong("these are no results of this scenario");
    return wmfix_judge_here(&orders, &outcome, NULL);
}

/* The file that says that an outcome was explained before; NULL if wmfix keeps none. The
   caller frees it. */
WMFIX_OWN_ char *wmfix_mark_file(const wmfix_list *outcome)
{
    const char *folder = getenv("WMFIX_EXPLAINED");
    unsigned long long one = 14695981039346656037ULL, other = 7809847782465536322ULL;
    wmfix_text file = {NULL, 0, 0};
    if (folder == NULL)
        return NULL;
    for (int i = 0; i < outcome->count; ++i)
        for (const char *at = outcome->list[i];; ++at) {
            one = (one ^ (unsigned char)*at) * 1099511628211ULL;
            other = (other ^ (unsigned char)*at) * 6364136223846793005ULL + 1442695040888963407ULL;
            if (*at == '\0')
                break;
        }
    wmfix_append(&file, "%s/%016llx%016llx", folder, one, other);
    return file.text;
}

/* Runs a scenario once, and has another process judge what it gave. */
WMFIX_OWN_ int wmfix_run_watched(const wmfix_scenario *scenario)
{
    char program[] = "scenarios", option[] = "--judge";
    wmfix_outcome outcome;
    wmfix_list arguments;
    char *mark;
    int code = WMFIX_PASSED;
    memset(&arguments, 0, sizeof arguments);
    wmfix_run(scenario, 0, &outcome);
    arguments.list[0] = program;
    arguments.list[1] = option;
    arguments.list[2] = wmfix_name(scenario);
    arguments.count = 3;
    wmfix_list_outcome(&arguments, scenario, &outcome);
    mark = wmfix_mark_file(&arguments);
    if (mark == NULL || access(mark, F_OK) != 0) {
        code = wmfix_run_apart(arguments.list);
        if (code < 0) {
            fprintf(stderr, "scenario %s: its calls crash when they are made one after the other\n",
                    arguments.list[2]);
            code = WMFIX_FAILED;
        }
        if (code == WMFIX_NOT_JUDGED)
            code = WMFIX_PASSED;
        if (code == WMFIX_PASSED && mark != NULL) {
            const int file = creat(mark, 0600);
            if (file >= 0)
                close(file);
        }
    }
    free(mark);
    for (int i = 2; i < arguments.count; ++i)
        free(arguments.list[i]);
    wmfix_free_outcome(&outcome);
    return code;
}

/* Runs a scenario this often with the system's threads. */
WMFIX_OWN_ int wmfix_run_often(const wmfix_scenario *scenario, long runs, const char *program)
{
    wmfix_orders orders;
    int code = WMFIX_PASSED;
    memset(&orders, 0, sizeof orders);
    orders.scenario = scenario;
    for (long i = 0; i < runs && code == WMFIX_PASSED; ++i) {
        wmfix_outcome outcome;
        wmfix_run(scenario, 1, &outcome);
        code = wmfix_judge_here(&orders, &outcome, program);
        wmfix_free_outcome(&outcome);
    }
    wmfix_free_orders(&orders);
    return code == WMFIX_NOT_JUDGED ? (int)WMFIX_PASSED : code;
}

/* What is done with the scenarios that there are. */
typedef struct wmfix_session {
    long most, runs, count;
    int code;
    const char *program;
    char **names; /* not NULL: they are only to be listed */
} wmfix_session;

WMFIX_OWN_ int wmfix_take_scenario(const wmfix_scenario *scenario, void *context)
{
    wmfix_session *session = (wmfix_session *)context;
    if (!wmfix_can_be_run(scenario))
        return 1;
    if (session->names != NULL)
        session->names[session->count] = wmfix_name(scenario);
    else
        session->code = wmfix_run_often(scenario, session->runs, session->program);
    return ++session->count < session->most && session->code == WMFIX_PASSED;
}

WMFIX_OWN_ void wmfix_free_names(wmfix_session *session)
{
    for (long i = 0; i < session->count; ++i)
        free(session->names[i]);
    free(session->names);
}

/* `--list`, and `--list-to FILE` for wmfix: a program may print what it likes. */
WMFIX_OWN_ int wmfix_list_names(wmfix_session *session, const char *path)
{
    FILE *to = path == NULL ? stdout : fopen(path, "w");
    int failed = to == NULL;
    if (to == NULL)
        wmfix_wrong("cannot write %s", path);
    session->names = (char **)wmfix_allocate((size_t)session->most * sizeof *session->names);
    wmfix_enumerate(wmfix_take_scenario, session);
    for (long i = 0; i < session->count; ++i)
        failed |= fprintf(to, "%s\n", session->names[i]) < 0;
    failed |= path == NULL ? fflush(to) != 0 : fclose(to) != 0;
    wmfix_free_names(session);
    return failed ? (int)WMFIX_FAILED : (int)WMFIX_PASSED;
}

/* One scenario of those that `--list` names, by the random numbers of wmfix's seed. */
WMFIX_OWN_ int wmfix_run_any(wmfix_session *session)
{
    wmfix_scenario scenario;
    unsigned number = 0;
    int code = WMFIX_PASSED;
    session->names = (char **)wmfix_allocate((size_t)session->most * sizeof *session->names);
    wmfix_enumerate(wmfix_take_scenario, session);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        wmfix_wrong("the system gives no random numbers");
    if (session->count > 0 && wmfix_parse(session->names[number % (unsigned long)session->count], &scenario))
        code = wmfix_run_watched(&scenario);
    wmfix_free_names(session);
    return code;
}

WMFIX_OWN_ int wmfix_usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [OPTION]\n"
            "  --list            print the names of the scenarios, the smallest first\n"
            "  --scenario NAME   run one of them (or WMFIX_SCENARIO=NAME)\n"
            "  --scenarios N     run or list the first N\n"
            "  --runs N          run each N times\n",
            program);
    return WMFIX_USAGE;
}

WMFIX_OWN_ int wmfix_scenarios_main(int count, char **arguments)
{
    const char *program = count > 0 ? arguments[0] : "scenarios";
    const char *name = getenv("WMFIX_SCENARIO");
    wmfix_scenario scenario;
    wmfix_session session;
    const char *list = NULL;
    int lists = 0, code;
    memset(&session, 0, sizeof session);
    session.program = program;
    wmfix_check_declarations();
    if (wmfix_mark == NULL)
        return WMFIX_USAGE;
    for (int i = 1; i < count; ++i) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(arguments[i], "--list") == 0) {
            lists = 1;
            continue;
        }
        if (value == NULL)
            return wmfix_usage(program);
        if (strcmp(arguments[i], "--judge") == 0 && wmfix_parse(value, &scenario)) {
            fflush(NULL);
            code = wmfix_judge_given(&scenario, arguments + i + 2, count - i - 2);
            fflush(NULL);
            _exit(code); /* Threads that wait for ever may be left. */
        }
        if (strcmp(arguments[i], "--orders") == 0 && wmfix_parse(value, &scenario))
            _exit(wmfix_gets_stuck(&scenario) ? WMFIX_FAILED : WMFIX_PASSED);
        if (strcmp(arguments[i], "--scenario") == 0)
            name = value;
        else if (strcmp(arguments[i], "--list-to") == 0)
            lists = 1, list = value;
        else if (strcmp(arguments[i], "--scenarios") == 0)
            session.most = strtol(value, NULL, 10);
        else if (strcmp(arguments[i], "--runs") == 0)
            session.runs = strtol(value, NULL, 10);
        else
            return wmfix_usage(program);
        ++i;
    }
    if (session.most <= 0)
        session.most = lists || wmfix_is_watched() ? (long)WMFIX_USUAL_LIST : (long)WMFIX_USUAL_SCENARIOS;
    if (lists)
        return wmfix_list_names(&session, list);
    if (name != NULL && !wmfix_parse(name, &scenario)) {
        fprintf(stderr, "scenarios: there is no scenario %s; --list prints those that there are\n", name);
        return WMFIX_USAGE;
    }
    if (wmfix_is_watched())
        return name != NULL ? wmfix_run_watched(&scenario) : wmfix_run_any(&session);
    if (name != NULL)
        return wmfix_run_often(&scenario, session.runs > 0 ? session.runs : (long)WMFIX_RUNS_OF_ONE, program);
    if (session.runs <= 0)
        session.runs = WMFIX_USUAL_RUNS;
    wmfix_enumerate(wmfix_take_scenario, &session);
    if (session.code == WMFIX_PASSED)
        printf("scenarios: %ld, runs of each: %ld; an order of the calls explains every result\n",
               session.count, session.runs);
    return session.code;
}

#endif
