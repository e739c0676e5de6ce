"""A compiled kernel by itself: for loops where every microsecond counts."""

import time

import numpy as np

import kumitate as km

arm = km.load("pa10")
fd = arm.compile("forward_dynamics").prepare()
print(fd)  # its inputs, and how many operations one evaluation takes
print(*fd.source().splitlines()[:4], "...", sep="\n")  # the straight-line program; source("llvm") is what the compiler gets

q, v, tau = np.zeros(7), np.zeros(7), np.zeros(7)
a = np.empty(7)  # results go into arrays that exist already
q[1] = 0.1

begin = time.perf_counter()
for _ in range(10_000):
    fd.into(a, q, v, tau)
print(f"one state a call: {(time.perf_counter() - begin) / 10_000 * 1e6:.2f} µs")

many_q, many_a = np.tile(q, (10_000, 1)), np.empty((10_000, 7))
begin = time.perf_counter()
fd.into(many_a, many_q, v, tau)  # inputs with and without leading axes go together
print(
    f"a batch: {(time.perf_counter() - begin) / 10_000 * 1e6:.3f} µs a state; the same to {np.abs(many_a - a).max():.1g} rad/s²"
)
