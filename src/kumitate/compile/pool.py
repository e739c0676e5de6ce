"""Threads of machine code: blocks of a batch are distributed without the interpreter, a call of a few microseconds.

A Python executor takes some 60 µs per call, as long as a step of a small batch. Here the workers are compiled: they wait for a
job by reading its number, for some 50 µs, and then sleep until woken. A job is cut into chunks, and each thread has a share of
them, the same rows in every call, which then stay in the caches of its core; whoever is done with its own helps with those of
the others. The caller works too, and returns when all chunks are done; a worker that comes late finds nothing left.

A chunk is claimed by taking one from a counter of those left of a share, with the number of the job in its upper half. A job
cannot end before its claimed chunks do, so that a claim always finds the function and the arguments of its own job.
"""

from __future__ import annotations

import ctypes
import os
import threading
from functools import cache

from .engine import Code, load
from .target import host

__all__ = ["can_pool", "run_blocks"]

#: Number of checks by a waiting thread before it sleeps: some 50 µs, more than Python takes between two steps of a batch.
LOOKS = 100_000
#: Number of chunks for each thread: more cost claims, fewer let threads wait for the last one.
CHUNKS = 32
# 64-bit words of the pool, those that different threads write to on cache lines of their own; the counters of claims, one for
# each thread, are the last
_JOB, _WORKERS, _FINISHED, _SLEEPERS, _WAITING = 0, 8, 16, 24, 32
_FUNCTION, _ARGUMENTS, _BLOCKS, _CHUNK, _SHARE, _THREADS = 40, 41, 42, 43, 44, 45
_MUTEX, _WAKE, _DONE, _CLAIMS, _LINE = 48, 64, 80, 96, 8

_TEXT = f"""
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)

define internal ptr @word(ptr %pool, i64 %k) alwaysinline {{
  %address = getelementptr i64, ptr %pool, i64 %k
  ret ptr %address
}}

define internal ptr @claims(ptr %pool, i64 %thread) alwaysinline {{
  %line = mul i64 %thread, {_LINE}
  %k = add i64 %line, {_CLAIMS}
  %address = call ptr @word(ptr %pool, i64 %k)
  ret ptr %address
}}

define internal void @work(ptr %pool, i64 %mine) {{
entry:
  %finished = call ptr @word(ptr %pool, i64 {_FINISHED})
  %threadsat = call ptr @word(ptr %pool, i64 {_THREADS})
  %threads = load i64, ptr %threadsat
  br label %visit
visit:
  %turn = phi i64 [ 0, %entry ], [ %next, %drained ]
  %sum = add i64 %mine, %turn
  %whose = urem i64 %sum, %threads
  %claims = call ptr @claims(ptr %pool, i64 %whose)
  br label %claim
claim:
  %old = load atomic i64, ptr %claims seq_cst, align 8
  %left = and i64 %old, 4294967295
  %none = icmp eq i64 %left, 0
  br i1 %none, label %drained, label %try
try:
  %less = sub i64 %old, 1
  %swapped = cmpxchg ptr %claims, i64 %old, i64 %less seq_cst seq_cst
  %claimed = extractvalue {{ i64, i1 }} %swapped, 1
  br i1 %claimed, label %run, label %claim
run:
  %chunkat = call ptr @word(ptr %pool, i64 {_CHUNK})
  %chunk = load i64, ptr %chunkat
  %blocksat = call ptr @word(ptr %pool, i64 {_BLOCKS})
  %blocks = load i64, ptr %blocksat
  %functionat = call ptr @word(ptr %pool, i64 {_FUNCTION})
  %function = load ptr, ptr %functionat
  %argumentsat = call ptr @word(ptr %pool, i64 {_ARGUMENTS})
  %arguments = load ptr, ptr %argumentsat
  %shareat = call ptr @word(ptr %pool, i64 {_SHARE})
  %share = load i64, ptr %shareat
  %before = mul i64 %whose, %share
  %past_it = add i64 %before, %left
  %k = sub i64 %past_it, 1
  %first = mul i64 %k, %chunk
  %end = add i64 %first, %chunk
  %past = icmp ugt i64 %end, %blocks
  %last = select i1 %past, i64 %blocks, i64 %end
  call void %function(ptr %arguments, i64 %first, i64 %last)
  %done = atomicrmw add ptr %finished, i64 1 seq_cst
  br label %claim
drained:
  %next = add i64 %turn, 1
  %through = icmp eq i64 %next, %threads
  br i1 %through, label %leave, label %visit
leave:
  ret void
}}

define internal ptr @worker(ptr %pool) {{
entry:
  %job = call ptr @word(ptr %pool, i64 {_JOB})
  %sleepers = call ptr @word(ptr %pool, i64 {_SLEEPERS})
  %waiting = call ptr @word(ptr %pool, i64 {_WAITING})
  %mutex = call ptr @word(ptr %pool, i64 {_MUTEX})
  %wake = call ptr @word(ptr %pool, i64 {_WAKE})
  %donesign = call ptr @word(ptr %pool, i64 {_DONE})
  %workers = call ptr @word(ptr %pool, i64 {_WORKERS})
  %others = atomicrmw add ptr %workers, i64 1 seq_cst
  %mine = add i64 %others, 1
  br label %wait
wait:
  %seen = phi i64 [ 0, %entry ], [ %new, %signalled ]
  br label %look
look:
  %looks = phi i64 [ 0, %wait ], [ %more, %again ]
  %found = load atomic i64, ptr %job seq_cst, align 8
  %differs = icmp ne i64 %found, %seen
  br i1 %differs, label %begin, label %again
again:
  %more = add i64 %looks, 1
  %patient = icmp ult i64 %more, {LOOKS}
  br i1 %patient, label %look, label %lock
lock:
  %l = call i32 @pthread_mutex_lock(ptr %mutex)
  %s1 = atomicrmw add ptr %sleepers, i64 1 seq_cst
  br label %asleep
asleep:
  %still = load atomic i64, ptr %job seq_cst, align 8
  %same = icmp eq i64 %still, %seen
  br i1 %same, label %sleep, label %awake
sleep:
  %c = call i32 @pthread_cond_wait(ptr %wake, ptr %mutex)
  br label %asleep
awake:
  %s2 = atomicrmw sub ptr %sleepers, i64 1 seq_cst
  %u = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %begin
begin:
  %new = phi i64 [ %found, %look ], [ %still, %awake ]
  call void @work(ptr %pool, i64 %mine)
  %someone = load atomic i64, ptr %waiting seq_cst, align 8
  %none = icmp eq i64 %someone, 0
  br i1 %none, label %signalled, label %signal
signal:
  %l2 = call i32 @pthread_mutex_lock(ptr %mutex)
  %b = call i32 @pthread_cond_broadcast(ptr %donesign)
  %u2 = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %signalled
signalled:
  br label %wait
}}

define i32 @pool_start(ptr %pool, i64 %threads) {{
entry:
  %mutex = call ptr @word(ptr %pool, i64 {_MUTEX})
  %wake = call ptr @word(ptr %pool, i64 {_WAKE})
  %done = call ptr @word(ptr %pool, i64 {_DONE})
  %m = call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %c1 = call i32 @pthread_cond_init(ptr %wake, ptr null)
  %c2 = call i32 @pthread_cond_init(ptr %done, ptr null)
  %thread = alloca i64
  %threadsat = call ptr @word(ptr %pool, i64 {_THREADS})
  store i64 %threads, ptr %threadsat
  br label %next
next:
  %k = phi i64 [ 1, %entry ], [ %following, %made ]
  %enough = icmp eq i64 %k, %threads
  br i1 %enough, label %end, label %make
make:
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %pool)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %error, label %made
made:
  %handle = load i64, ptr %thread
  %d = call i32 @pthread_detach(i64 %handle)
  %following = add i64 %k, 1
  br label %next
error:
  ret i32 %failed
end:
  ret i32 0
}}

define void @pool_run(ptr %pool, ptr %function, ptr %arguments, i64 %blocks, i64 %chunk) {{
entry:
  %job = call ptr @word(ptr %pool, i64 {_JOB})
  %finished = call ptr @word(ptr %pool, i64 {_FINISHED})
  %sleepers = call ptr @word(ptr %pool, i64 {_SLEEPERS})
  %waiting = call ptr @word(ptr %pool, i64 {_WAITING})
  %mutex = call ptr @word(ptr %pool, i64 {_MUTEX})
  %wake = call ptr @word(ptr %pool, i64 {_WAKE})
  %donesign = call ptr @word(ptr %pool, i64 {_DONE})
  %functionat = call ptr @word(ptr %pool, i64 {_FUNCTION})
  store ptr %function, ptr %functionat
  %argumentsat = call ptr @word(ptr %pool, i64 {_ARGUMENTS})
  store ptr %arguments, ptr %argumentsat
  %blocksat = call ptr @word(ptr %pool, i64 {_BLOCKS})
  store i64 %blocks, ptr %blocksat
  %chunkat = call ptr @word(ptr %pool, i64 {_CHUNK})
  store i64 %chunk, ptr %chunkat
  %up = add i64 %blocks, %chunk
  %rounded = sub i64 %up, 1
  %chunks = udiv i64 %rounded, %chunk
  %threadsat = call ptr @word(ptr %pool, i64 {_THREADS})
  %threads = load i64, ptr %threadsat
  %more_chunks = add i64 %chunks, %threads
  %rounded_chunks = sub i64 %more_chunks, 1
  %each = udiv i64 %rounded_chunks, %threads
  %shareat = call ptr @word(ptr %pool, i64 {_SHARE})
  store i64 %each, ptr %shareat
  store atomic i64 0, ptr %finished seq_cst, align 8
  %old = load atomic i64, ptr %job seq_cst, align 8
  %number = add i64 %old, 1
  %upper = shl i64 %number, 32
  br label %open
open:
  %t = phi i64 [ 0, %entry ], [ %t_next, %open ]
  %taken = mul i64 %t, %each
  %rest = call i64 @llvm.usub.sat.i64(i64 %chunks, i64 %taken)
  %own = call i64 @llvm.umin.i64(i64 %rest, i64 %each)
  %claims = call ptr @claims(ptr %pool, i64 %t)
  %opened = or i64 %upper, %own
  store atomic i64 %opened, ptr %claims seq_cst, align 8
  %t_next = add i64 %t, 1
  %all_open = icmp eq i64 %t_next, %threads
  br i1 %all_open, label %publish, label %open
publish:
  store atomic i64 %number, ptr %job seq_cst, align 8
  %asleep = load atomic i64, ptr %sleepers seq_cst, align 8
  %none = icmp eq i64 %asleep, 0
  br i1 %none, label %share, label %rouse
rouse:
  %l = call i32 @pthread_mutex_lock(ptr %mutex)
  %b = call i32 @pthread_cond_broadcast(ptr %wake)
  %u = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %share
share:
  call void @work(ptr %pool, i64 0)
  br label %look
look:
  %looks = phi i64 [ 0, %share ], [ %more, %again ]
  %so_far = load atomic i64, ptr %finished seq_cst, align 8
  %all = icmp eq i64 %so_far, %chunks
  br i1 %all, label %end, label %again
again:
  %more = add i64 %looks, 1
  %patient = icmp ult i64 %more, {LOOKS}
  br i1 %patient, label %look, label %lock
lock:
  %l2 = call i32 @pthread_mutex_lock(ptr %mutex)
  store atomic i64 1, ptr %waiting seq_cst, align 8
  br label %check
check:
  %now = load atomic i64, ptr %finished seq_cst, align 8
  %over = icmp eq i64 %now, %chunks
  br i1 %over, label %unlock, label %sleep
sleep:
  %c = call i32 @pthread_cond_wait(ptr %donesign, ptr %mutex)
  br label %check
unlock:
  store atomic i64 0, ptr %waiting seq_cst, align 8
  %u2 = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %end
end:
  ret void
}}
"""


def can_pool() -> bool:
    """Whether this system has the threads that the pool is written for."""
    return os.name == "posix"


class _Pool:
    """Threads that share the work of their caller, who is one of them."""

    def __init__(self, threads: int):
        self.code: Code = load(_TEXT, host(), ["pool_start", "pool_run"])
        self.memory = (ctypes.c_int64 * (_CLAIMS + _LINE * (threads + 1)))()
        self.base = -(-ctypes.addressof(self.memory) // 64) * 64
        self.lock = threading.Lock()
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.addresses["pool_run"]
        )
        start = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(self.code.addresses["pool_start"])
        failed = start(self.base, threads)
        if failed:
            raise OSError(failed, os.strerror(failed))


@cache
def _pool(threads: int) -> _Pool:
    pool = _Pool(threads)
    # the workers never end, so that their code and memory must outlive the interpreter
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process inherits the memory, not the threads


def run_blocks(function: int, arguments: int, blocks: int, threads: int) -> None:
    """Runs `void function(ptr arguments, i64 first, i64 last)`, an address, over all blocks on so many threads."""
    pool = _pool(threads)
    with pool.lock:
        pool.run(pool.base, function, arguments, blocks, max(1, blocks // (CHUNKS * threads)))
