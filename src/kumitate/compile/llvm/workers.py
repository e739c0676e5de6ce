"""The compiled workers that share blocks of a batch (`compile.threads` says how), as LLVM text.

`i32 pool_start(ptr pool, i64 threads)` starts them, one fewer than there are threads, and `void pool_run(ptr pool, ptr
function, ptr arguments, i64 blocks, i64 chunk)` runs a job on them and on its caller.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from .writer import Module, Writer

# 64-bit words of the pool, those that different threads write to on cache lines of their own; the counters of claims, one for
# each thread, are the last
_JOB, _WORKERS, _FINISHED, _SLEEPERS, _WAITING = 0, 8, 16, 24, 32
_FUNCTION, _ARGUMENTS, _BLOCKS, _CHUNK, _SHARE, _THREADS = 40, 41, 42, 43, 44, 45
_MUTEX, _WAKE, _DONE, _CLAIMS, _LINE = 48, 64, 80, 96, 8


def words_of(threads: int) -> int:
    """How many words a pool of so many threads takes, to begin at a line of the cache."""
    return _CLAIMS + _LINE * (threads + 1)


def workers_text(looks: int) -> str:
    """The module; `looks`: how often a waiting thread looks before it sleeps."""
    module = Module(1)
    module.functions += [_work(module), _worker(module, looks), _start(module), _run(module, looks)]
    return module.text()


class _Words(Writer):
    """Writes a function over the words of a pool."""

    def at(self, word: int) -> str:
        return self.line(f"getelementptr i64, ptr %pool, i64 {word}")

    def get(self, word: int, kind: str = "i64") -> str:
        return self.line(f"load {kind}, ptr {self.at(word)}")

    def put(self, word: int, value: str, kind: str = "i64") -> None:
        self.effect(f"store {kind} {value}, ptr {self.at(word)}")

    def read(self, word: int) -> str:
        """A word that other threads write to."""
        return self.line(f"load atomic i64, ptr {self.at(word)} seq_cst, align 8")

    def write(self, word: int, value: str) -> None:
        """A word that other threads read."""
        self.effect(f"store atomic i64 {value}, ptr {self.at(word)} seq_cst, align 8")

    def add(self, word: int, number: int) -> str:
        """Adds to a word; its value before."""
        return self.line(f"atomicrmw add ptr {self.at(word)}, i64 {number} seq_cst")

    def claims(self, thread: str) -> str:
        """The counter of the chunks left of a thread's share."""
        line = self.line(f"mul i64 {thread}, {_LINE}")
        return self.line(f"getelementptr i64, ptr %pool, i64 {self.line(f'add i64 {line}, {_CLAIMS}')}")

    def thread(self, action: str, *words: int) -> None:
        """A call of the library of threads."""
        places = [f"ptr {self.at(word)}" for word in words]
        self.line(f"call i32 @pthread_{action}({', '.join(places)})")

    def branch(self, condition: str, then: str, other: str) -> None:
        self.effect(f"br i1 {condition}, label %{then}, label %{other}")

    @contextlib.contextmanager
    def where(self, condition: str) -> Iterator[None]:
        """What is written inside runs where a condition holds."""
        then, end = self.label("then"), self.label("end")
        self.branch(condition, then, end)
        self.start(then)
        yield
        self.go(end)

    def rouse(self, sleepers: int, sign: int) -> None:
        """Wakes the threads that a word counts."""
        with self.where(self.line(f"icmp ne i64 {self.read(sleepers)}, 0")):
            self.thread("mutex_lock", _MUTEX)
            self.thread("cond_broadcast", sign)
            self.thread("mutex_unlock", _MUTEX)

    def wait(self, holds: Callable[[], str], looks: int, sleepers: int, sign: int) -> None:
        """Looks so often whether a condition holds, then sleeps until it does: a word counts who sleeps, a sign wakes."""
        name, before = self.label("wait"), self.block
        self.go(f"{name}.look")
        self.effect(f"%{name}.k = phi i64 [ 0, %{before} ], [ %{name}.next, %{name}.again ]")
        self.branch(holds(), f"{name}.end", f"{name}.again")
        self.start(f"{name}.again")
        self.effect(f"%{name}.next = add i64 %{name}.k, 1")
        self.branch(self.line(f"icmp ult i64 %{name}.next, {looks}"), f"{name}.look", f"{name}.lock")
        self.start(f"{name}.lock")
        self.thread("mutex_lock", _MUTEX)
        self.add(sleepers, 1)
        self.go(f"{name}.asleep")
        self.branch(holds(), f"{name}.awake", f"{name}.sleep")
        self.start(f"{name}.sleep")
        self.thread("cond_wait", sign, _MUTEX)
        self.effect(f"br label %{name}.asleep")
        self.start(f"{name}.awake")
        self.add(sleepers, -1)
        self.thread("mutex_unlock", _MUTEX)
        self.go(f"{name}.end")


def _work(module: Module) -> str:
    """Runs chunks as long as any are left: those of the thread's own share first."""
    write = _Words(module)
    threads = write.get(_THREADS)
    with write.repeated("visit", "0", threads) as turn:
        whose = write.line(f"urem i64 {write.line(f'add i64 %mine, {turn}')}, {threads}")
        claims = write.claims(whose)
        write.go("claim")
        old = write.line(f"load atomic i64, ptr {claims} seq_cst, align 8")
        left = write.line(f"and i64 {old}, 4294967295")
        write.branch(write.line(f"icmp eq i64 {left}, 0"), "drained", "try")
        write.start("try")
        less = write.line(f"sub i64 {old}, 1")
        swapped = write.line(f"cmpxchg ptr {claims}, i64 {old}, i64 {less} seq_cst seq_cst")
        write.branch(write.line(f"extractvalue {{ i64, i1 }} {swapped}, 1"), "run", "claim")
        write.start("run")
        chunk, blocks = write.get(_CHUNK), write.get(_BLOCKS)
        function, arguments = write.get(_FUNCTION, "ptr"), write.get(_ARGUMENTS, "ptr")
        before = write.line(f"mul i64 {whose}, {write.get(_SHARE)}")
        past = write.line(f"mul i64 {write.line(f'add i64 {before}, {left}')}, {chunk}")
        first = write.line(f"sub i64 {past}, {chunk}")
        last = write.line(f"call i64 @llvm.umin.i64(i64 {blocks}, i64 {past})")
        write.effect(f"call void {function}(ptr {arguments}, i64 {first}, i64 {last})")
        write.add(_FINISHED, 1)
        write.effect("br label %claim")
        write.start("drained")
    write.effect("ret void")
    return write.framed("define internal void @work(ptr %pool, i64 %mine)")


def _worker(module: Module, looks: int) -> str:
    """Waits for jobs, and works."""
    write = _Words(module)
    known = write.line("alloca i64")
    write.effect(f"store i64 0, ptr {known}")
    mine = write.line(f"add i64 {write.add(_WORKERS, 1)}, 1")
    write.go("next")
    seen = write.line(f"load i64, ptr {known}")
    write.wait(lambda: write.line(f"icmp ne i64 {write.read(_JOB)}, {seen}"), looks, _SLEEPERS, _WAKE)
    write.effect(f"store i64 {write.read(_JOB)}, ptr {known}")
    write.effect(f"call void @work(ptr %pool, i64 {mine})")
    write.rouse(_WAITING, _DONE)
    write.effect("br label %next")
    return write.framed("define internal ptr @worker(ptr %pool)")


def _start(module: Module) -> str:
    """Starts the workers; what the system says if it has not enough."""
    write = _Words(module)
    write.put(_THREADS, "%threads")
    for kind, word in (("mutex", _MUTEX), ("cond", _WAKE), ("cond", _DONE)):
        write.line(f"call i32 @pthread_{kind}_init(ptr {write.at(word)}, ptr null)")
    handle = write.line("alloca i64")
    with write.repeated("one", "1", "%threads"):
        failed = write.line(f"call i32 @pthread_create(ptr {handle}, ptr null, ptr @worker, ptr %pool)")
        with write.where(write.line(f"icmp ne i32 {failed}, 0")):
            write.effect(f"ret i32 {failed}")
            write.start("unreachable")
        write.line(f"call i32 @pthread_detach(i64 {write.line(f'load i64, ptr {handle}')})")
    write.effect("ret i32 0")
    return write.framed("define i32 @pool_start(ptr %pool, i64 %threads)")


def _run(module: Module, looks: int) -> str:
    """Opens the shares of a job, publishes it, works, and waits for the others."""
    write = _Words(module)
    write.put(_FUNCTION, "%function", "ptr")
    write.put(_ARGUMENTS, "%arguments", "ptr")
    write.put(_BLOCKS, "%blocks")
    write.put(_CHUNK, "%chunk")
    threads = write.get(_THREADS)
    chunks = _divided_up(write, "%blocks", "%chunk")
    each = _divided_up(write, chunks, threads)
    write.put(_SHARE, each)
    write.write(_FINISHED, "0")
    number = write.line(f"add i64 {write.read(_JOB)}, 1")
    upper = write.line(f"shl i64 {number}, 32")
    with write.repeated("open", "0", threads) as thread:
        rest = write.line(f"call i64 @llvm.usub.sat.i64(i64 {chunks}, i64 {write.line(f'mul i64 {thread}, {each}')})")
        own = write.line(f"call i64 @llvm.umin.i64(i64 {rest}, i64 {each})")
        opened = write.line(f"or i64 {upper}, {own}")
        write.effect(f"store atomic i64 {opened}, ptr {write.claims(thread)} seq_cst, align 8")
    write.write(_JOB, number)
    write.rouse(_SLEEPERS, _WAKE)
    write.effect("call void @work(ptr %pool, i64 0)")
    write.wait(lambda: write.line(f"icmp eq i64 {write.read(_FINISHED)}, {chunks}"), looks, _WAITING, _DONE)
    write.effect("ret void")
    return write.framed("define void @pool_run(ptr %pool, ptr %function, ptr %arguments, i64 %blocks, i64 %chunk)")


def _divided_up(write: Writer, number: str, by: str) -> str:
    """A quotient, rounded up."""
    more = write.line(f"sub i64 {write.line(f'add i64 {number}, {by}')}, 1")
    return write.line(f"udiv i64 {more}, {by}")
