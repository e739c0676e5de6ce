#include <float.h>
#include <stdint.h>
#include <string.h>

/*
 * Sine and cosine within 3e-16, of angles up to a million: x - n pi/2 by Cody and Waite's two parts of pi/2, the polynomials of
 * Sun's fdlibm (k_sin.c, k_cos.c), and the quadrant n from the low bits of a sum with 1.5*2^52. No branch, so that compilers
 * work on several angles at once.
 */
static inline void kumitate_turn(double x, double *sine, double *cosine)
{
#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0 /* sums that round are what it rests on */
    *sine = sin(x);
    *cosine = cos(x);
#else
    const double shifted = x*0x1.45f306dc9c883p-1 + 0x1.8p+52, n = shifted - 0x1.8p+52;
    const double r = (x - n*0x1.921fb544p+0) - n*0x1.0b4611a626331p-34, z = r*r, z2 = z*z, z4 = z2*z2;
    const double s = r + z*r*((-0x1.5555555555549p-3 + 0x1.111111110f8a6p-7*z)
        + z2*(-0x1.a01a019c161d5p-13 + 0x1.71de357b1fe7dp-19*z) + z4*(-0x1.ae5e68a2b9cebp-26 + 0x1.5d93a5acfd57cp-33*z));
    const double c = 1.0 - (0.5*z - z2*((0x1.555555555554cp-5 - 0x1.6c16c16c15177p-10*z)
        + z2*(0x1.a01a019cb1590p-16 - 0x1.27e4f809c52adp-22*z) + z4*(0x1.1ee9ebdb4b1c4p-29 - 0x1.8fae9be8838d4p-37*z)));
    uint64_t quadrant, a, b, swapped;
    memcpy(&quadrant, &shifted, sizeof quadrant);
    memcpy(&a, &s, sizeof a);
    memcpy(&b, &c, sizeof b);
    swapped = (a ^ b) & (0u - (quadrant & 1u));
    a ^= swapped ^ ((quadrant & 2u) << 62);
    b ^= swapped ^ (((quadrant + 1u) & 2u) << 62);
    memcpy(sine, &a, sizeof a);
    memcpy(cosine, &b, sizeof b);
#endif
}

#ifndef KM_TWICE
/* On PCs each function is compiled a second time for processors that fuse products and sums; the loader picks one. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12
#define KM_TWICE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define KM_TWICE
#endif
#endif
