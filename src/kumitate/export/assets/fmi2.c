/*
 * A model by the interface FMI 2.0.5, for co-simulation and for model exchange: the functions that a tool calls.
 * Their names, arguments and meaning are those of the standard, https://fmi-standard.org.
 */
#include "instance.h"

#ifndef fmi2Functions_h /* the standard's own header has the same declarations */
typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef char fmi2Byte;
typedef const char *fmi2String;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;
#endif

typedef struct {
    Core core;
    const fmi2CallbackFunctions *tool;
    double start;
    char name[128];
} Instance;

static fmi2Status failed(Instance *s, fmi2String why)
{
    if (s && s->tool->logger)
        s->tool->logger(s->tool->componentEnvironment, s->name, fmi2Error, "logStatusError", "%s", why);
    return fmi2Error;
}

static fmi2Status none(Instance *s, size_t n)
{
    return n == 0 ? fmi2OK : failed(s, "all variables of this model are of the type Real");
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }
EXPORTED fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi2OK;
}

EXPORTED fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
    const fmi2CallbackFunctions *tool, fmi2Boolean visible, fmi2Boolean logging)
{
    Instance *s;
    (void)resources, (void)visible, (void)logging;
    if (!tool || !is_own(token) || (type == fmi2ModelExchange && !N_X)) return NULL;
    s = tool->allocateMemory ? tool->allocateMemory(1, sizeof *s) : calloc(1, sizeof *s);
    if (!s) return NULL;
    s->tool = tool;
    for (size_t k = 0; name && name[k] && k + 1 < sizeof s->name; k++) s->name[k] = name[k];
    s->core.exchange = type == fmi2ModelExchange;
    core_reset(&s->core);
    return s;
}

EXPORTED void fmi2FreeInstance(fmi2Component c)
{
    Instance *s = c;
    if (s && s->tool->freeMemory) s->tool->freeMemory(s);
    else free(s);
}

EXPORTED fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerates, fmi2Real tolerance, fmi2Real start,
    fmi2Boolean stops, fmi2Real stop)
{
    (void)tolerates, (void)tolerance, (void)stops, (void)stop;
    ((Instance *)c)->start = start;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    Instance *s = c;
    if (s->core.phase != MADE) return failed(s, "initialization begins once, after an instance is made or reset");
    s->core.phase = INITIALIZING;
    core_time(&s->core, s->start);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance *s = c;
    if (s->core.phase != INITIALIZING) return failed(s, "there is no initialization to end");
    core_settle(&s->core);
    s->core.phase = RUNNING;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2Terminate(fmi2Component c)
{
    ((Instance *)c)->core.phase = ENDED;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2Reset(fmi2Component c)
{
    core_reset(&((Instance *)c)->core);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2Real values[])
{
    Instance *s = c;
    return core_get(&s->core, refs, n, values) ? fmi2OK : failed(s, "a value reference is of no variable of this model");
}

EXPORTED fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Real values[])
{
    Instance *s = c;
    if (core_set(&s->core, refs, n, values)) return fmi2OK;
    return failed(s, "only inputs and tunable parameters can be set, and values at the start before the motion begins");
}

#define NO_VARIABLES(Type)                                                                                                    \
    EXPORTED fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2##Type values[])         \
    {                                                                                                                         \
        (void)refs, (void)values;                                                                                             \
        return none(c, n);                                                                                                    \
    }                                                                                                                         \
    EXPORTED fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2##Type values[])   \
    {                                                                                                                         \
        (void)refs, (void)values;                                                                                             \
        return none(c, n);                                                                                                    \
    }
NO_VARIABLES(Integer)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

/* --- states that are kept: copies of the core ---------------------------------------------------------------------------- */
EXPORTED fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *kept)
{
    Instance *s = c;
    if (!*kept) *kept = s->tool->allocateMemory ? s->tool->allocateMemory(1, sizeof s->core) : calloc(1, sizeof s->core);
    if (!*kept) return failed(s, "there is no memory for a state");
    memcpy(*kept, &s->core, sizeof s->core);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate kept)
{
    memcpy(&((Instance *)c)->core, kept, sizeof(Core));
    return fmi2OK;
}

EXPORTED fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *kept)
{
    Instance *s = c;
    if (s->tool->freeMemory) s->tool->freeMemory(*kept);
    else free(*kept);
    *kept = NULL;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate kept, size_t *size)
{
    (void)c, (void)kept;
    *size = sizeof(Core);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate kept, fmi2Byte bytes[], size_t size)
{
    if (size < sizeof(Core)) return failed(c, "a state has more bytes than there is room for");
    memcpy(bytes, kept, sizeof(Core));
    return fmi2OK;
}

EXPORTED fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *kept)
{
    Instance *s = c;
    if (size != sizeof(Core)) return failed(s, "these bytes are not of a state of this model");
    if (!*kept) *kept = s->tool->allocateMemory ? s->tool->allocateMemory(1, sizeof(Core)) : calloc(1, sizeof(Core));
    if (!*kept) return failed(s, "there is no memory for a state");
    memcpy(*kept, bytes, sizeof(Core));
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t n,
    const fmi2ValueReference knowns[], size_t k, const fmi2Real along[], fmi2Real found[])
{
    Instance *s = c;
    if (N_DOTTED && core_slope(&s->core, unknowns, n, knowns, k, along, found)) return fmi2OK;
    return failed(s, "directional derivatives are those of outputs and rates by states and inputs");
}

/* --- model exchange ------------------------------------------------------------------------------------------------------ */
EXPORTED fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof *info);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean last, fmi2Boolean *event, fmi2Boolean *terminate)
{
    (void)c, (void)last;
    *event = *terminate = 0;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    core_time(&((Instance *)c)->core, time);
    core_touch(&((Instance *)c)->core);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    if (n != N_X) return failed(c, "the number of states is wrong");
    core_set_states(&((Instance *)c)->core, x);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != N_X) return failed(c, "the number of states is wrong");
    core_states(&((Instance *)c)->core, x);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real rates[], size_t n)
{
    if (n != N_X) return failed(c, "the number of states is wrong");
    core_rates(&((Instance *)c)->core, rates);
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t n)
{
    (void)indicators;
    return none(c, n);
}

EXPORTED fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n)
{
    (void)c;
    for (size_t k = 0; k < n; k++) nominals[k] = 1.0;
    return fmi2OK;
}

/* --- co-simulation ------------------------------------------------------------------------------------------------------- */
EXPORTED fmi2Status fmi2DoStep(fmi2Component c, fmi2Real now, fmi2Real length, fmi2Boolean no_return)
{
    Instance *s = c;
    (void)no_return;
    if (s->core.phase != RUNNING || s->core.exchange) return failed(s, "steps are made after initialization, in co-simulation");
    if (!(length > 0.0)) return length == 0.0 ? fmi2OK : failed(s, "a step has no positive length");
    return core_advance(&s->core, now, length) ? fmi2OK : failed(s, "the motion diverges; take a smaller step");
}

EXPORTED fmi2Status fmi2CancelStep(fmi2Component c)
{
    return failed(c, "steps end before they return");
}

EXPORTED fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
    const fmi2Integer order[], const fmi2Real values[])
{
    (void)refs, (void)order, (void)values;
    return n == 0 ? fmi2OK : failed(c, "inputs are held over a step");
}

EXPORTED fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
    const fmi2Integer order[], fmi2Real values[])
{
    (void)refs, (void)order, (void)values;
    return n == 0 ? fmi2OK : failed(c, "outputs have no derivatives here");
}

EXPORTED fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c, (void)kind;
    *value = fmi2OK;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    (void)kind;
    *value = ((Instance *)c)->core.m[AT_TIME];
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind, (void)value;
    return failed(c, "there is no such status");
}

EXPORTED fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)c, (void)kind;
    *value = 0;
    return fmi2OK;
}

EXPORTED fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind;
    *value = "";
    return failed(c, "there is no such status");
}
