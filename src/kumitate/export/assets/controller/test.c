/* Compares all functions with numbers that kumitate recorded, and measures them. Returns 1 where one is off. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "@NAME@.h"

@TABLES@

/* The largest error so far, as a part of the largest number of a result. */
static double compared(double worst, const double *expected, const @REAL@ *found, int count)
{
    double size = 1.0, off = 0.0;
    for (int k = 0; k < count; k++) {
        if (fabs(expected[k]) > size) size = fabs(expected[k]);
        if (!(fabs((double)found[k] - expected[k]) <= off)) off = fabs((double)found[k] - expected[k]);
    }
    return off / size <= worst ? worst : off / size;
}

static int told(const char *name, double worst, double seconds)
{
    const int failed = !(worst <= @TOLERANCE@);
    printf("%-40s off by %.1e  %8.0f ns  %s\n", name, worst, 1e9 * seconds, failed ? "FAILED" : "ok");
    return failed;
}

int main(void)
{
    clock_t begin;
    int failed = 0;
@CHECKS@
    return failed;
}
