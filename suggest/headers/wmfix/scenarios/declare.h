/* What a scenario file declares: objects, roles and operations, and what a call
   gives back. Everything here is the common part of C11 and C++11. */
#ifndef WMFIX_SCENARIOS_DECLARE_H
#define WMFIX_SCENARIOS_DECLARE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A header's own function: not every file uses each of them. */
#define WMFIX_OWN_ static __attribute__((unused))

enum {
    WMFIX_MAX_THREADS = 3,
    WMFIX_MAX_CALLS = 4, /* of one thread */
    WMFIX_MAX_BEFORE = 16,
    WMFIX_MAX_AFTER = 64,
    WMFIX_MAX_PARAMETERS = 4,
    WMFIX_MAX_OBJECTS = 4
};

enum {
    WMFIX_STRICT = 1,   /* its refusals are part of the common order */
    WMFIX_REFUSES = 2,  /* its refusals say nothing */
    WMFIX_WAITS = 4,    /* it may wait for another call */
    WMFIX_ONCE = 8,     /* at most one call of it in a scenario */
    WMFIX_UNJUDGED = 16 /* its results are not looked at */
};

enum { WMFIX_NOTHING, WMFIX_SIGNED, WMFIX_UNSIGNED, WMFIX_TRUTH, WMFIX_BOXED };

/* What a call gave, as it was given: it becomes text when all threads have ended. */
typedef struct wmfix_result {
    int kind;
    int refused;
    long long number;
    void *box;
    void (*print)(const void *box, char *text, size_t size);
    void (*drop)(void *box);
} wmfix_result;

/* What an operation is called with. */
typedef struct wmfix_call {
    void *object;
    void *own; /* what WMFIX_THREAD made for the calling thread */
    const long long *arguments;
    wmfix_result *result;
} wmfix_call;

typedef struct wmfix_operation {
    const char *name;
    const char *role;
    unsigned flags;
    int has_refusal; /* `refusal` is a result that means one */
    long long refusal;
    int can_refuse;
    int has_result;
    const char *parameters; /* of each: `v`, a value of its own, or `k`, a key */
    const void *object_tag; /* says which object it is for */
    const void *own_tag;    /* of what WMFIX_THREAD makes, if it takes that */
    int object;             /* its index, once everything is declared */
    void (*run)(const struct wmfix_operation *, const wmfix_call *);
    void (*body)(void);
    struct wmfix_operation *next;
} wmfix_operation;

typedef struct wmfix_role {
    const char *name;
    int threads;
    struct wmfix_role *next;
} wmfix_role;

typedef struct wmfix_object {
    const char *name;
    const void *tag;
    void *(*create)(void);
    void (*destroy)(void *);
    const void *own_tag;
    void *(*create_own)(void *object);
    void (*destroy_own)(void *own);
    void (*finally)(void *object, wmfix_result *);
} wmfix_object;

static wmfix_operation *wmfix_operations;
static wmfix_role *wmfix_roles;
static wmfix_object wmfix_objects[WMFIX_MAX_OBJECTS];
static int wmfix_object_count;

/* 0 in the parts before and after, else the number of the thread from 1. */
static __thread int wmfix_thread_number;

/* Where a failed expectation of the calling thread is noted. */
static __thread char *wmfix_expectation;
enum { WMFIX_EXPECTATION_SIZE = 200 };

/* The scenario file is wrong: says so, and ends the program. */
WMFIX_OWN_ __attribute__((noreturn, format(printf, 1, 2))) void wmfix_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("scenarios: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

WMFIX_OWN_ void *wmfix_allocate(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        wmfix_wrong("no memory");
    return memory;
}

WMFIX_OWN_ char *wmfix_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = (char *)wmfix_allocate(size);
    memcpy(copy, text, size);
    return copy;
}

WMFIX_OWN_ void wmfix_expect_at(int holds, const char *file, int line)
{
    if (!holds && wmfix_expectation != NULL && wmfix_expectation[0] == '\0')
        snprintf(wmfix_expectation, WMFIX_EXPECTATION_SIZE, "%s:%d", file, line);
}

/* Declarations are kept in the order of the file. */
WMFIX_OWN_ void wmfix_add_operation(wmfix_operation *operation)
{
    wmfix_operation **end = &wmfix_operations;
    while (*end != NULL)
        end = &(*end)->next;
    *end = operation;
}

WMFIX_OWN_ void wmfix_add_role(wmfix_role *role)
{
    wmfix_role **end = &wmfix_roles;
    while (*end != NULL)
        end = &(*end)->next;
    *end = role;
}

/* The object with a tag, which is declared if it is not yet. */
WMFIX_OWN_ wmfix_object *wmfix_object_of(const void *tag)
{
    for (int i = 0; i < wmfix_object_count; ++i)
        if (wmfix_objects[i].tag == tag)
            return &wmfix_objects[i];
    if (wmfix_object_count == WMFIX_MAX_OBJECTS)
        wmfix_wrong("more than %d objects", (int)WMFIX_MAX_OBJECTS);
    wmfix_objects[wmfix_object_count].tag = tag;
    return &wmfix_objects[wmfix_object_count++];
}

WMFIX_OWN_ wmfix_operation *wmfix_find_operation(const char *name, size_t length)
{
    for (wmfix_operation *operation = wmfix_operations; operation != NULL; operation = operation->next)
        if (strlen(operation->name) == length && memcmp(operation->name, name, length) == 0)
            return operation;
    return NULL;
}

/* How many threads may have a role. */
WMFIX_OWN_ int wmfix_threads_of_role(const char *name)
{
    for (wmfix_role *role = wmfix_roles; role != NULL; role = role->next)
        if (strcmp(role->name, name) == 0)
            return role->threads;
    return WMFIX_MAX_THREADS;
}

/* Sees to it that everything that is named is declared. */
WMFIX_OWN_ void wmfix_check_declarations(void)
{
    if (wmfix_operations == NULL)
        wmfix_wrong("no WMFIX_OPERATION is declared");
    for (int i = 0; i < wmfix_object_count; ++i)
        if (wmfix_objects[i].create == NULL)
            wmfix_wrong("something is declared for an object that no WMFIX_OBJECT declares");
    for (wmfix_operation *operation = wmfix_operations; operation != NULL; operation = operation->next) {
        const wmfix_object *object;
        int known = strcmp(operation->role, "any") == 0;
        for (wmfix_role *role = wmfix_roles; role != NULL; role = role->next)
            known |= strcmp(role->name, operation->role) == 0;
        if (!known)
            wmfix_wrong("%s has the role %s, which no WMFIX_ROLE declares", operation->name,
                        operation->role);
        operation->object = -1;
        for (int i = 0; i < wmfix_object_count; ++i)
            if (wmfix_objects[i].tag == operation->object_tag)
                operation->object = i;
        if (operation->object < 0)
            wmfix_wrong("the first parameter of %s is no object that WMFIX_OBJECT declares",
                        operation->name);
        object = &wmfix_objects[operation->object];
        if (operation->own_tag != NULL && operation->own_tag != object->own_tag)
            wmfix_wrong("the second parameter of %s is not what WMFIX_THREAD makes of its object",
                        operation->name);
    }
}

#endif
