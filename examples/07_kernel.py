"""Call a compiled kernel directly, where every microsecond matters."""

import time

import numpy as np

import kumitate as km

arm = km.load("pa10")
fd = arm.compile("forward_dynamics").prepare()
print(fd)  # its inputs, and the number of operations per evaluation
print(*fd.source().splitlines()[:4], "...", sep="\n")  # the straight-line program; source("llvm") is the compiler's input

q, v, tau = np.zeros(7), np.zeros(7), np.zeros(7)
a = np.empty(7)  # results are written into existing arrays
q[1] = 0.1

begin = time.perf_counter()
for _ in range(10_000):
    fd.into(a, q, v, tau)
print(f"one state per call: {(time.perf_counter() - begin) / 10_000 * 1e6:.2f} µs")

many_q, many_a = np.tile(q, (10_000, 1)), np.empty((10_000, 7))
begin = time.perf_counter()
fd.into(many_a, many_q, v, tau)  # inputs with and without leading axes can be combined
print(
    f"a batch: {(time.perf_counter() - begin) / 10_000 * 1e6:.3f} µs per state; equal to {np.abs(many_a - a).max():.1g} rad/s²"
)
