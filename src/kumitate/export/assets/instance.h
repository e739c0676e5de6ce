/*
 * What both versions of FMI share: one instance, its numbers, and what is still to be computed of them.
 *
 * All numbers of an instance stand in one array m; a value reference is an index of it. model.h, written for each model, has
 * its size, what stands where, the values at the start, and the functions model_begin, …_step, …, which read m
 * and write to it. Nothing is allocated after an instance is made, and instances share constants only.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>
#if defined(NO_LIBRARY) /* for Windows without a C library, which takes a minute to build from its sources */
void *__stdcall GetProcessHeap(void);
void *__stdcall HeapAlloc(void *heap, unsigned long zero, size_t size);
int __stdcall HeapFree(void *heap, unsigned long none, void *memory);
int __stdcall DllMainCRTStartup(void *library, unsigned long why, void *reserved);
int __stdcall DllMainCRTStartup(void *library, unsigned long why, void *reserved)
{
    (void)library, (void)why, (void)reserved;
    return 1;
}
#define calloc(count, size) HeapAlloc(GetProcessHeap(), 8, (count) * (size))
#define free(memory) (void)HeapFree(GetProcessHeap(), 0, memory)
#else
#include <stdlib.h>
#endif

#include "model.h"

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

/* What may be done with a number: as in model.h's table `model_sorts`. */
enum { READ = 1, INPUT = 2, TUNABLE = 4, FIXED = 8, SEEN = 16, RATE = 32 };
enum { MADE, INITIALIZING, RUNNING, ENDED };
/* A step in which nothing moves, for derivatives. */
#define NO_STEP 1e-30

typedef struct {
    double m[NUMBERS];
    int phase, exchange;
    int unbegun;   /* the state does not yet follow from the values at the start */
    int varied;    /* parameters were set */
    int unseen;    /* outputs are of an earlier state */
    int unmoved;   /* derivatives are of an earlier state */
} Core;

/* Whether a tool's token is that of this model. */
static int is_own(const char *token)
{
    const char *own = TOKEN;
    while (token && *own && *own == *token) own++, token++;
    return token && *own == *token;
}

static void core_reset(Core *c)
{
    memcpy(c->m, model_first, sizeof model_first);
    c->phase = MADE;
    c->unbegun = c->unseen = c->unmoved = 1;
    c->varied = 0;
}

static void core_touch(Core *c)
{
    c->unseen = c->unmoved = 1;
}

/* The step of length h that begins at a time; where both are as before, steps are counted on. */
static void core_place(Core *c, double time, double h)
{
    if (c->m[AT_H] != h || fabs(c->m[AT_NUMBER] * h - time) > 1e-6 * h) {
        c->m[AT_H] = h;
        c->m[AT_NUMBER] = time / h;
        core_touch(c);
    }
    c->m[AT_TIME] = time;
}

static void core_time(Core *c, double time)
{
    core_place(c, time, c->exchange ? NO_STEP : STEP);
}

static void core_settle(Core *c)
{
    if (c->varied) {
        model_numbers(c->m);
        c->varied = 0;
    }
    if (c->unbegun) {
        model_begin(c->m);
        c->unbegun = 0;
        core_touch(c);
    }
}

static int core_get(Core *c, const unsigned *refs, size_t n, double *values)
{
    core_settle(c);
    for (size_t k = 0; k < n; k++) {
        if (refs[k] >= NUMBERS || !(model_sorts[refs[k]] & READ)) return 0;
        if ((model_sorts[refs[k]] & SEEN) && c->unseen) {
            model_look(c->m);
            c->unseen = 0;
        }
        if ((model_sorts[refs[k]] & RATE) && c->unmoved) {
            model_flow(c->m);
            c->unmoved = 0;
        }
        values[k] = c->m[refs[k]];
    }
    return 1;
}

static int core_set(Core *c, const unsigned *refs, size_t n, const double *values)
{
    const int open = c->phase == MADE || c->phase == INITIALIZING;
    for (size_t k = 0; k < n; k++) {
        const int sort = refs[k] < NUMBERS ? model_sorts[refs[k]] : 0;
        if (!(sort & (INPUT | TUNABLE)) && !((sort & FIXED) && open)) return 0;
        c->m[refs[k]] = values[k];
        if (sort & TUNABLE) c->varied = 1;
        if (sort & FIXED) c->unbegun = 1;
    }
    core_touch(c);
    return 1;
}

/* Whether steps over a length of time could be made: as many as needed, none longer than that of the model. */
static int core_advance(Core *c, double time, double length)
{
    double count = floor(length / STEP + 0.5), h = STEP;
    if (count < 1.0 || fabs(length - count * STEP) > 1e-9 * length) {
        count = ceil(length / STEP);
        h = length / count;
    }
    core_settle(c);
    core_place(c, time, h);
    for (long k = 0; k < (long)count; k++) model_step(c->m);
    c->m[AT_TIME] = time + length;
    core_touch(c);
    for (size_t k = 0; k != N_Q; k++)
        if (!(fabs(c->m[AT_Q + k]) < INFINITY)) return 0;
    for (size_t k = 0; k != N_V; k++)
        if (!(fabs(c->m[AT_V + k]) < RUNAWAY)) return 0;
    return 1;
}

static void core_states(Core *c, double *x)
{
    core_settle(c);
    for (size_t k = 0; k != N_X; k++) x[k] = c->m[model_states[k]];
}

static void core_set_states(Core *c, const double *x)
{
    core_settle(c);
    for (size_t k = 0; k != N_X; k++) c->m[model_states[k]] = x[k];
    core_touch(c);
}

static void core_rates(Core *c, double *rates)
{
    core_settle(c);
    if (c->unmoved) {
        model_flow(c->m);
        c->unmoved = 0;
    }
    for (size_t k = 0; k != N_X; k++) rates[k] = c->m[model_rates[k]];
}

/* The derivative of outputs and rates along a direction of states and inputs. */
static int core_slope(Core *c, const unsigned *unknowns, size_t n, const unsigned *knowns, size_t k, const double *along, double *found)
{
    core_settle(c);
    for (size_t i = 0; i != N_DOTTED; i++) c->m[model_dots[i][1]] = 0.0;
    for (size_t j = 0; j < k; j++) {
        size_t i = 0;
        while (i != N_DOTTED && model_dots[i][0] != knowns[j]) i++;
        if (i == N_DOTTED) return 0;
        c->m[model_dots[i][1]] = along[j];
    }
    model_slope(c->m);
    for (size_t j = 0; j < n; j++) {
        size_t i = 0;
        while (i != N_FOUND && model_found[i][0] != unknowns[j]) i++;
        if (i == N_FOUND) return 0;
        found[j] = c->m[model_found[i][1]];
    }
    return 1;
}
