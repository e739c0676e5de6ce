/* Runs a unit of FMI 2.0 on Windows, with no C library: 100 steps of 1 ms, and writes numbers of it as they are. */
typedef void *H;
H __stdcall LoadLibraryA(const char *name);
H __stdcall GetProcAddress(H library, const char *name);
H __stdcall GetStdHandle(unsigned long which);
int __stdcall WriteFile(H file, const void *bytes, unsigned long count, unsigned long *written, H overlapped);
void __stdcall ExitProcess(unsigned code);
typedef struct { void (*log)(void); H (*allocate)(unsigned long long, unsigned long long); void (*release)(H); void (*done)(void); H env; } Tool;

int start(void)
{
    static const Tool tool;
    static const unsigned refs[] = {REFS};
    H dll = LoadLibraryA("pendulum.dll"), s;
    unsigned long written;
    double values[sizeof refs / sizeof *refs];
    if (!dll) ExitProcess(2);
    s = ((H (*)(const char *, int, const char *, const char *, const Tool *, int, int))GetProcAddress(dll, "fmi2Instantiate"))(
        "one", 1, TOKEN, "", &tool, 0, 0);
    if (!s) ExitProcess(3);
    ((int (*)(H, int, double, double, int, double))GetProcAddress(dll, "fmi2SetupExperiment"))(s, 0, 0.0, 0.0, 0, 0.0);
    ((int (*)(H))GetProcAddress(dll, "fmi2EnterInitializationMode"))(s);
    ((int (*)(H))GetProcAddress(dll, "fmi2ExitInitializationMode"))(s);
    for (int k = 0; k < 100; k++)
        if (((int (*)(H, double, double, int))GetProcAddress(dll, "fmi2DoStep"))(s, 1e-3*k, 1e-3, 1)) ExitProcess(4);
    if (((int (*)(H, const unsigned *, unsigned long long, double *))GetProcAddress(dll, "fmi2GetReal"))(
            s, refs, sizeof refs / sizeof *refs, values)) ExitProcess(5);
    WriteFile(GetStdHandle(-11), values, sizeof values, &written, 0);
    ((void (*)(H))GetProcAddress(dll, "fmi2FreeInstance"))(s);
    ExitProcess(0);
    return 0;
}
