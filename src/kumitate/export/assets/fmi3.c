/*
 * A model by the interface FMI 3.0, for co-simulation and for model exchange: the functions that a tool calls.
 * Their names, arguments and meaning are those of the standard, https://fmi-standard.org.
 */
#include <stdbool.h>
#include <stdint.h>

#include "instance.h"

#ifndef fmi3Functions_h /* the standard's own header has the same declarations */
typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8, fmi3Byte;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean, fmi3Clock;
typedef const char *fmi3String;
typedef const fmi3Byte *fmi3Binary;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean,
    fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);
#endif

typedef struct {
    Core core;
    fmi3InstanceEnvironment tool;
    fmi3LogMessageCallback logger;
} Instance;

static fmi3Status failed(Instance *s, fmi3String why)
{
    if (s && s->logger) s->logger(s->tool, fmi3Error, "logStatusError", why);
    return fmi3Error;
}

static fmi3Status none(Instance *s, size_t n)
{
    return n == 0 ? fmi3OK : failed(s, "this model has no such variables: all are of the type Float64");
}

EXPORTED const char *fmi3GetVersion(void) { return "3.0"; }
EXPORTED fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi3OK;
}

static Instance *made(fmi3String token, fmi3InstanceEnvironment tool, fmi3LogMessageCallback logger, int exchange)
{
    Instance *s;
    if (!is_own(token) || (exchange && !N_X)) return NULL;
    s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->tool = tool;
    s->logger = logger;
    s->core.exchange = exchange;
    core_reset(&s->core);
    return s;
}

EXPORTED fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment tool, fmi3LogMessageCallback logger)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return made(token, tool, logger, 1);
}

EXPORTED fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early, const fmi3ValueReference required[],
    size_t n, fmi3InstanceEnvironment tool, fmi3LogMessageCallback logger, fmi3IntermediateUpdateCallback update)
{
    (void)name, (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)required, (void)update;
    return n ? NULL : made(token, tool, logger, 0);
}

EXPORTED fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment tool, fmi3LogMessageCallback logger,
    fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
    if (logger) logger(tool, fmi3Error, "logStatusError", "this model has no scheduled execution");
    return NULL;
}

EXPORTED void fmi3FreeInstance(fmi3Instance c) { free(c); }

EXPORTED fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerates, fmi3Float64 tolerance,
    fmi3Float64 start, fmi3Boolean stops, fmi3Float64 stop)
{
    Instance *s = c;
    (void)tolerates, (void)tolerance, (void)stops, (void)stop;
    if (s->core.phase != MADE) return failed(s, "initialization begins once, after an instance is made or reset");
    s->core.phase = INITIALIZING;
    core_time(&s->core, start);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    Instance *s = c;
    if (s->core.phase != INITIALIZING) return failed(s, "there is no initialization to end");
    core_settle(&s->core);
    s->core.phase = RUNNING;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3Terminate(fmi3Instance c)
{
    ((Instance *)c)->core.phase = ENDED;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3Reset(fmi3Instance c)
{
    core_reset(&((Instance *)c)->core);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3Float64 values[],
    size_t count)
{
    Instance *s = c;
    if (count == n && core_get(&s->core, refs, n, values)) return fmi3OK;
    return failed(s, "a value reference is of no variable of this model");
}

EXPORTED fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3Float64 values[],
    size_t count)
{
    Instance *s = c;
    if (count == n && core_set(&s->core, refs, n, values)) return fmi3OK;
    return failed(s, "only inputs and tunable parameters can be set, and values at the start before the motion begins");
}

#define NO_VARIABLES(Type)                                                                                                    \
    EXPORTED fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3##Type values[],          \
        size_t count)                                                                                                         \
    {                                                                                                                         \
        (void)refs, (void)values, (void)count;                                                                                \
        return none(c, n);                                                                                                    \
    }                                                                                                                         \
    EXPORTED fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3##Type values[],    \
        size_t count)                                                                                                         \
    {                                                                                                                         \
        (void)refs, (void)values, (void)count;                                                                                \
        return none(c, n);                                                                                                    \
    }
NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(Int32)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

/* What this model does not have, such as clocks: nothing of it can be asked for. */
#define NONE_OF(Name, ...)                                                                                                    \
    EXPORTED fmi3Status Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, __VA_ARGS__)                           \
    {                                                                                                                         \
        (void)refs;                                                                                                           \
        return none(c, n);                                                                                                    \
    }
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
NONE_OF(fmi3GetBinary, size_t sizes[], fmi3Binary values[], size_t count)
NONE_OF(fmi3SetBinary, const size_t sizes[], const fmi3Binary values[], size_t count)
NONE_OF(fmi3GetClock, fmi3Clock values[])
NONE_OF(fmi3SetClock, const fmi3Clock values[])
NONE_OF(fmi3GetIntervalDecimal, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
NONE_OF(fmi3GetIntervalFraction, fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
NONE_OF(fmi3GetShiftDecimal, fmi3Float64 shifts[])
NONE_OF(fmi3GetShiftFraction, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
NONE_OF(fmi3SetIntervalDecimal, const fmi3Float64 intervals[])
NONE_OF(fmi3SetIntervalFraction, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
NONE_OF(fmi3SetShiftDecimal, const fmi3Float64 shifts[])
NONE_OF(fmi3SetShiftFraction, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
NONE_OF(fmi3GetAdjointDerivative, const fmi3ValueReference knowns[], size_t k, const fmi3Float64 seed[], size_t seeds,
    fmi3Float64 found[], size_t count)
NONE_OF(fmi3GetOutputDerivatives, const fmi3Int32 orders[], fmi3Float64 values[], size_t count)

EXPORTED fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference ref, size_t *n)
{
    (void)ref, (void)n;
    return failed(c, "dependencies are not told: all outputs may depend on all inputs");
}

EXPORTED fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference ref, size_t elements[],
    fmi3ValueReference independents[], size_t of[], fmi3DependencyKind kinds[], size_t n)
{
    return none(c, n);
}

/* --- states that are kept: copies of the core ---------------------------------------------------------------------------- */
EXPORTED fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *kept)
{
    if (!*kept) *kept = calloc(1, sizeof(Core));
    if (!*kept) return failed(c, "there is no memory for a state");
    memcpy(*kept, &((Instance *)c)->core, sizeof(Core));
    return fmi3OK;
}

EXPORTED fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState kept)
{
    memcpy(&((Instance *)c)->core, kept, sizeof(Core));
    return fmi3OK;
}

EXPORTED fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *kept)
{
    free(*kept);
    *kept = NULL;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState kept, size_t *size)
{
    *size = sizeof(Core);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState kept, fmi3Byte bytes[], size_t size)
{
    if (size < sizeof(Core)) return failed(c, "a state has more bytes than there is room for");
    memcpy(bytes, kept, sizeof(Core));
    return fmi3OK;
}

EXPORTED fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *kept)
{
    if (size != sizeof(Core)) return failed(c, "these bytes are not of a state of this model");
    if (!*kept) *kept = calloc(1, sizeof(Core));
    if (!*kept) return failed(c, "there is no memory for a state");
    memcpy(*kept, bytes, sizeof(Core));
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n,
    const fmi3ValueReference knowns[], size_t k, const fmi3Float64 seed[], size_t seeds, fmi3Float64 found[], size_t count)
{
    Instance *s = c;
    if (N_DOTTED && seeds == k && count == n && core_slope(&s->core, unknowns, n, knowns, k, seed, found)) return fmi3OK;
    return failed(s, "directional derivatives are those of outputs and rates by states and inputs");
}

/* --- modes, of which this model needs none -------------------------------------------------------------------------------- */
EXPORTED fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) { return fmi3OK; }
EXPORTED fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) { return fmi3OK; }
EXPORTED fmi3Status fmi3EnterEventMode(fmi3Instance c) { return fmi3OK; }
EXPORTED fmi3Status fmi3EnterStepMode(fmi3Instance c) { return fmi3OK; }
EXPORTED fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) { return fmi3OK; }
EXPORTED fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) { return fmi3OK; }
EXPORTED fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *more, fmi3Boolean *terminate,
    fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *defined, fmi3Float64 *next)
{
    *more = *terminate = *nominals = *values = *defined = false;
    *next = 0.0;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time)
{
    return failed(c, "this model has no scheduled execution");
}

/* --- model exchange ------------------------------------------------------------------------------------------------------ */
EXPORTED fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean last, fmi3Boolean *event, fmi3Boolean *terminate)
{
    *event = *terminate = false;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time)
{
    core_time(&((Instance *)c)->core, time);
    core_touch(&((Instance *)c)->core);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n)
{
    if (n != N_X) return failed(c, "the number of states is wrong");
    core_set_states(&((Instance *)c)->core, x);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n)
{
    if (n != N_X) return failed(c, "the number of states is wrong");
    core_states(&((Instance *)c)->core, x);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 rates[], size_t n)
{
    if (n != N_X) return failed(c, "the number of states is wrong");
    core_rates(&((Instance *)c)->core, rates);
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t n)
{
    return none(c, n);
}

EXPORTED fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t n)
{
    for (size_t k = 0; k < n; k++) nominals[k] = 1.0;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n)
{
    *n = 0;
    return fmi3OK;
}

EXPORTED fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n)
{
    *n = N_X;
    return fmi3OK;
}

/* --- co-simulation ------------------------------------------------------------------------------------------------------- */
EXPORTED fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 now, fmi3Float64 length, fmi3Boolean no_return, fmi3Boolean *event,
    fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    Instance *s = c;
    *event = *terminate = *early = false;
    *reached = now;
    if (s->core.phase != RUNNING || s->core.exchange) return failed(s, "steps are made after initialization, in co-simulation");
    if (!(length > 0.0)) return length == 0.0 ? fmi3OK : failed(s, "a step has no positive length");
    if (!core_advance(&s->core, now, length)) return failed(s, "the motion diverges; take a smaller step");
    *reached = now + length;
    return fmi3OK;
}
