/* Scenarios of a C library for `wmfix check`, and for any other test run: declare how an
   object is set up and what its operations are, and small programs are made of them,
   whose results some order of the calls must explain. `wmfix help scenarios` is the
   manual.

   This file has `main`: include it in one file of a program, or define WMFIX_NO_MAIN and
   call wmfix_scenarios_main(argc, argv). */
#ifndef WMFIX_SCENARIOS_H
#define WMFIX_SCENARIOS_H

#ifdef __cplusplus
#error "include <wmfix/scenarios.hpp> in C++"
#endif

#include "scenarios/macros.h"
#include "scenarios/main.h"

/* A parameter whose values meet: there are two of them. */
typedef unsigned int wmfix_key;

/* What the body of an operation gives back. */
typedef long long wmfix_value;

/* What must hold in every run. */
#define WMFIX_EXPECT(condition) wmfix_expect_at((condition) ? 1 : 0, __FILE__, __LINE__)

/* 0 in the parts before and after, else the number of the calling thread from 1. */
WMFIX_OWN_ int wmfix_thread(void) { return wmfix_thread_number; }

/* The object of a file is its globals, between these two. */
static void (*wmfix_setup)(void);
static void (*wmfix_teardown)(void);
static char wmfix_globals;

WMFIX_OWN_ void *wmfix_create_globals(void)
{
    if (wmfix_setup != NULL)
        wmfix_setup();
    return &wmfix_globals;
}

WMFIX_OWN_ void wmfix_destroy_globals(void *object)
{
    (void)object;
    if (wmfix_teardown != NULL)
        wmfix_teardown();
}

/* What WMFIX_THREAD gives is for WMFIX_OWN(type) in the bodies. */
static __thread void *wmfix_own_of_thread;
#define WMFIX_OWN(type) ((type *)wmfix_own_of_thread)

/* Calls a body by its parameters. */
WMFIX_OWN_ void wmfix_run_body(const wmfix_operation *operation, const wmfix_call *call)
{
    const long long *at = call->arguments;
    const char *parameters = operation->parameters;
    void (*body)(void) = operation->body;
    wmfix_value value;
    wmfix_own_of_thread = call->own;
    if (strcmp(parameters, "") == 0)
        value = ((wmfix_value(*)(void))body)();
    else if (strcmp(parameters, "v") == 0)
        value = ((wmfix_value(*)(int))body)((int)at[0]);
    else if (strcmp(parameters, "k") == 0)
        value = ((wmfix_value(*)(wmfix_key))body)((wmfix_key)at[0]);
    else if (strcmp(parameters, "vv") == 0)
        value = ((wmfix_value(*)(int, int))body)((int)at[0], (int)at[1]);
    else if (strcmp(parameters, "kv") == 0)
        value = ((wmfix_value(*)(wmfix_key, int))body)((wmfix_key)at[0], (int)at[1]);
    else
        value = ((wmfix_value(*)(wmfix_key, wmfix_key))body)((wmfix_key)at[0], (wmfix_key)at[1]);
    call->result->kind = WMFIX_SIGNED;
    call->result->number = value;
}

#define WMFIX_PARAMETERS_(body) \
    _Generic(&(body), \
        wmfix_value (*)(void): "", \
        wmfix_value (*)(int): "v", \
        wmfix_value (*)(wmfix_key): "k", \
        wmfix_value (*)(int, int): "vv", \
        wmfix_value (*)(wmfix_key, int): "kv", \
        wmfix_value (*)(wmfix_key, wmfix_key): "kk")

/* The globals as the object of whatever is declared. */
WMFIX_OWN_ wmfix_object *wmfix_global_object(void)
{
    wmfix_object *object = wmfix_object_of(&wmfix_globals);
    object->name = "globals";
    object->create = wmfix_create_globals;
    object->destroy = wmfix_destroy_globals;
    return object;
}

WMFIX_OWN_ void wmfix_declare_body(wmfix_operation *operation, void (*body)(void), const char *parameters)
{
    wmfix_global_object();
    operation->has_result = 1;
    operation->can_refuse = operation->has_refusal;
    operation->parameters = parameters;
    operation->object_tag = &wmfix_globals;
    operation->run = wmfix_run_body;
    operation->body = body;
    wmfix_add_operation(operation);
}

#define WMFIX_AT_START_(name) static __attribute__((constructor)) void name(void)

#define WMFIX_WORD_strict operation.flags |= WMFIX_STRICT;
#define WMFIX_WORD_refuses operation.flags |= WMFIX_REFUSES;
#define WMFIX_WORD_waits operation.flags |= WMFIX_WAITS;
#define WMFIX_WORD_once operation.flags |= WMFIX_ONCE;
#define WMFIX_WORD_unjudged operation.flags |= WMFIX_UNJUDGED;
#define WMFIX_WORD_refusal(value) operation.has_refusal = 1; operation.refusal = (value);

/* The body follows the macro. */
#define WMFIX_DECLARE_(operation_name, role_name, words, ...) \
    static wmfix_value wmfix_body_##operation_name __VA_ARGS__; \
    WMFIX_AT_START_(wmfix_declare_##operation_name) \
    { \
        static wmfix_operation operation; \
        operation.name = #operation_name; \
        operation.role = #role_name; \
        words wmfix_declare_body(&operation, (void (*)(void))wmfix_body_##operation_name, \
                                 WMFIX_PARAMETERS_(wmfix_body_##operation_name)); \
    } \
    static wmfix_value wmfix_body_##operation_name __VA_ARGS__
#define WMFIX_OPERATION(name, role, ...) WMFIX_WORDS_0_(name, role, , __VA_ARGS__)
#define WMFIX_ROLE(role_name, role_threads) \
    WMFIX_AT_START_(wmfix_declare_role_##role_name) \
    { \
        static wmfix_role role; \
        role.name = #role_name; \
        role.threads = role_threads; \
        wmfix_add_role(&role); \
    }
#define WMFIX_SETUP \
    static void wmfix_setup_body(void); \
    WMFIX_AT_START_(wmfix_declare_setup) { wmfix_setup = wmfix_setup_body; } \
    static void wmfix_setup_body(void)
#define WMFIX_TEARDOWN \
    static void wmfix_teardown_body(void); \
    WMFIX_AT_START_(wmfix_declare_teardown) { wmfix_teardown = wmfix_teardown_body; } \
    static void wmfix_teardown_body(void)

/* Makes something for each thread; WMFIX_THREAD_END destroys it. */
#define WMFIX_THREAD \
    static void *wmfix_thread_body(void); \
    WMFIX_OWN_ void *wmfix_create_thread(void *object) \
    { \
        (void)object; \
        return wmfix_thread_body(); \
    } \
    WMFIX_OWN_ void wmfix_keep_thread(void *own) { (void)own; } \
    WMFIX_AT_START_(wmfix_declare_thread) \
    { \
        wmfix_object *object = wmfix_global_object(); \
        object->create_own = wmfix_create_thread; \
        if (object->destroy_own == NULL) \
            object->destroy_own = wmfix_keep_thread; \
    } \
    static void *wmfix_thread_body(void)
#define WMFIX_THREAD_END \
    static void wmfix_thread_end_body(void *own); \
    WMFIX_AT_START_(wmfix_declare_thread_end) { wmfix_global_object()->destroy_own = wmfix_thread_end_body; } \
    static void wmfix_thread_end_body(void *own)

/* Looks at the quiet object. */
#define WMFIX_FINALLY \
    static wmfix_value wmfix_finally_body(void); \
    WMFIX_OWN_ void wmfix_look(void *object, wmfix_result *result) \
    { \
        (void)object; \
        result->kind = WMFIX_SIGNED; \
        result->number = wmfix_finally_body(); \
    } \
    WMFIX_AT_START_(wmfix_declare_finally) { wmfix_global_object()->finally = wmfix_look; } \
    static wmfix_value wmfix_finally_body(void)

#ifndef WMFIX_NO_MAIN
int main(int argc, char **argv) { return wmfix_scenarios_main(argc, argv); }
#endif

#endif
