; The threads that share blocks of a batch; compile/threads.py says how. LOOKS is replaced: how often a waiting thread looks.

; What different threads write to stands on cache lines of its own. The claims are the last, a counter for each thread: above,
; the number of the job, and in the lower half, the chunks that are left of the thread's share.
%Line = type [8 x i64]
%Words = type [16 x i64]
%Pool = type { %Line, %Line, %Line, %Line, %Line,           ; 0 job, 1 workers, 2 finished, 3 sleepers, 4 waiting
               ptr, ptr, i64, i64, i64, i64, [2 x i64],     ; 5 function, 6 arguments, 7 blocks, 8 chunk, 9 share, 10 threads
               %Words, %Words, %Words,                      ; 12 mutex, 13 wake, 14 done
               [0 x %Line] }                                ; 15 claims

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)

; Looks so often whether a word equals a value (or does not, unless `equal`), then sleeps until it does: `sleepers` counts who
; sleeps, `sign` wakes.
define internal void @wait(ptr %pool, ptr %word, i64 %value, i1 %equal, ptr %sleepers, ptr %sign) {
entry:
  %mutex = getelementptr %Pool, ptr %pool, i64 0, i32 12
  br label %look
look:
  %looks = phi i64 [ 0, %entry ], [ %looked, %again ]
  %seen = load atomic i64, ptr %word seq_cst, align 8
  %same = icmp eq i64 %seen, %value
  %holds = icmp eq i1 %same, %equal
  br i1 %holds, label %end, label %again
again:
  %looked = add i64 %looks, 1
  %patient = icmp ult i64 %looked, LOOKS
  br i1 %patient, label %look, label %lock
lock:
  call i32 @pthread_mutex_lock(ptr %mutex)
  atomicrmw add ptr %sleepers, i64 1 seq_cst
  br label %asleep
asleep:
  %seen.asleep = load atomic i64, ptr %word seq_cst, align 8
  %same.asleep = icmp eq i64 %seen.asleep, %value
  %holds.asleep = icmp eq i1 %same.asleep, %equal
  br i1 %holds.asleep, label %awake, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr %sign, ptr %mutex)
  br label %asleep
awake:
  atomicrmw add ptr %sleepers, i64 -1 seq_cst
  call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %end
end:
  ret void
}

; Wakes the threads that `sleepers` counts.
define internal void @rouse(ptr %pool, ptr %sleepers, ptr %sign) {
  %mutex = getelementptr %Pool, ptr %pool, i64 0, i32 12
  %count = load atomic i64, ptr %sleepers seq_cst, align 8
  %none = icmp eq i64 %count, 0
  br i1 %none, label %end, label %wake
wake:
  call i32 @pthread_mutex_lock(ptr %mutex)
  call i32 @pthread_cond_broadcast(ptr %sign)
  call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %end
end:
  ret void
}

; Runs chunks as long as any are left: those of the thread's own share first.
define internal void @work(ptr %pool, i64 %mine) {
entry:
  %finished = getelementptr %Pool, ptr %pool, i64 0, i32 2
  %at.function = getelementptr %Pool, ptr %pool, i64 0, i32 5
  %at.arguments = getelementptr %Pool, ptr %pool, i64 0, i32 6
  %at.blocks = getelementptr %Pool, ptr %pool, i64 0, i32 7
  %at.chunk = getelementptr %Pool, ptr %pool, i64 0, i32 8
  %at.share = getelementptr %Pool, ptr %pool, i64 0, i32 9
  %at.threads = getelementptr %Pool, ptr %pool, i64 0, i32 10
  %threads = load i64, ptr %at.threads
  br label %visit
visit:
  %turn = phi i64 [ 0, %entry ], [ %turned, %drained ]
  %on = add i64 %mine, %turn
  %whose = urem i64 %on, %threads
  %claims = getelementptr %Pool, ptr %pool, i64 0, i32 15, i64 %whose
  br label %claim
claim:
  %old = load atomic i64, ptr %claims seq_cst, align 8
  %left = and i64 %old, 4294967295
  %none = icmp eq i64 %left, 0
  br i1 %none, label %drained, label %try
try:
  %less = sub i64 %old, 1
  %swapped = cmpxchg ptr %claims, i64 %old, i64 %less seq_cst seq_cst
  %ours = extractvalue { i64, i1 } %swapped, 1
  br i1 %ours, label %run, label %claim
run: ; only here is the job known to be the one that is published
  %function = load ptr, ptr %at.function
  %arguments = load ptr, ptr %at.arguments
  %blocks = load i64, ptr %at.blocks
  %chunk = load i64, ptr %at.chunk
  %share = load i64, ptr %at.share
  %before = mul i64 %whose, %share
  %number = add i64 %before, %left
  %past = mul i64 %number, %chunk
  %first = sub i64 %past, %chunk
  %last = call i64 @llvm.umin.i64(i64 %blocks, i64 %past)
  call void %function(ptr %arguments, i64 %first, i64 %last)
  atomicrmw add ptr %finished, i64 1 seq_cst
  br label %claim
drained:
  %turned = add i64 %turn, 1
  %more = icmp slt i64 %turned, %threads
  br i1 %more, label %visit, label %end
end:
  ret void
}

; Waits for jobs, and works.
define internal ptr @worker(ptr %pool) {
entry:
  %job = getelementptr %Pool, ptr %pool, i64 0, i32 0
  %workers = getelementptr %Pool, ptr %pool, i64 0, i32 1
  %sleepers = getelementptr %Pool, ptr %pool, i64 0, i32 3
  %waiting = getelementptr %Pool, ptr %pool, i64 0, i32 4
  %wake = getelementptr %Pool, ptr %pool, i64 0, i32 13
  %done = getelementptr %Pool, ptr %pool, i64 0, i32 14
  %others = atomicrmw add ptr %workers, i64 1 seq_cst
  %mine = add i64 %others, 1
  br label %next
next:
  %known = phi i64 [ 0, %entry ], [ %now, %next ]
  call void @wait(ptr %pool, ptr %job, i64 %known, i1 false, ptr %sleepers, ptr %wake)
  %now = load atomic i64, ptr %job seq_cst, align 8
  call void @work(ptr %pool, i64 %mine)
  call void @rouse(ptr %pool, ptr %waiting, ptr %done)
  br label %next
}

; Starts the workers, one fewer than there are threads; what the system says if it has not enough.
define i32 @pool_start(ptr %pool, i64 %threads) {
entry:
  %at.threads = getelementptr %Pool, ptr %pool, i64 0, i32 10
  %mutex = getelementptr %Pool, ptr %pool, i64 0, i32 12
  %wake = getelementptr %Pool, ptr %pool, i64 0, i32 13
  %done = getelementptr %Pool, ptr %pool, i64 0, i32 14
  %handle = alloca i64
  store i64 %threads, ptr %at.threads
  call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  call i32 @pthread_cond_init(ptr %wake, ptr null)
  call i32 @pthread_cond_init(ptr %done, ptr null)
  br label %one
one:
  %k = phi i64 [ 1, %entry ], [ %next, %started ]
  %more = icmp slt i64 %k, %threads
  br i1 %more, label %start, label %end
start:
  %failed = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %pool)
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %started, label %lacking
started:
  %thread = load i64, ptr %handle
  call i32 @pthread_detach(i64 %thread)
  %next = add i64 %k, 1
  br label %one
lacking:
  ret i32 %failed
end:
  ret i32 0
}

; Opens the shares of a job, publishes it, works, and waits for the others.
define void @pool_run(ptr %pool, ptr %function, ptr %arguments, i64 %blocks, i64 %chunk) {
entry:
  %job = getelementptr %Pool, ptr %pool, i64 0, i32 0
  %finished = getelementptr %Pool, ptr %pool, i64 0, i32 2
  %sleepers = getelementptr %Pool, ptr %pool, i64 0, i32 3
  %waiting = getelementptr %Pool, ptr %pool, i64 0, i32 4
  %at.function = getelementptr %Pool, ptr %pool, i64 0, i32 5
  %at.arguments = getelementptr %Pool, ptr %pool, i64 0, i32 6
  %at.blocks = getelementptr %Pool, ptr %pool, i64 0, i32 7
  %at.chunk = getelementptr %Pool, ptr %pool, i64 0, i32 8
  %at.share = getelementptr %Pool, ptr %pool, i64 0, i32 9
  %at.threads = getelementptr %Pool, ptr %pool, i64 0, i32 10
  %wake = getelementptr %Pool, ptr %pool, i64 0, i32 13
  %done = getelementptr %Pool, ptr %pool, i64 0, i32 14
  store ptr %function, ptr %at.function
  store ptr %arguments, ptr %at.arguments
  store i64 %blocks, ptr %at.blocks
  store i64 %chunk, ptr %at.chunk
  %threads = load i64, ptr %at.threads
  %blocks.up = add i64 %blocks, %chunk
  %blocks.over = sub i64 %blocks.up, 1
  %chunks = udiv i64 %blocks.over, %chunk ; rounded up
  %chunks.up = add i64 %chunks, %threads
  %chunks.over = sub i64 %chunks.up, 1
  %share = udiv i64 %chunks.over, %threads
  store i64 %share, ptr %at.share
  store atomic i64 0, ptr %finished seq_cst, align 8
  %before = load atomic i64, ptr %job seq_cst, align 8
  %number = add i64 %before, 1
  %above = shl i64 %number, 32
  br label %open
open:
  %k = phi i64 [ 0, %entry ], [ %next, %open ]
  %given = mul i64 %k, %share
  %rest = call i64 @llvm.usub.sat.i64(i64 %chunks, i64 %given)
  %own = call i64 @llvm.umin.i64(i64 %rest, i64 %share)
  %opened = or i64 %above, %own
  %claims = getelementptr %Pool, ptr %pool, i64 0, i32 15, i64 %k
  store atomic i64 %opened, ptr %claims seq_cst, align 8
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %threads
  br i1 %more, label %open, label %publish
publish:
  store atomic i64 %number, ptr %job seq_cst, align 8
  call void @rouse(ptr %pool, ptr %sleepers, ptr %wake)
  call void @work(ptr %pool, i64 0)
  call void @wait(ptr %pool, ptr %finished, i64 %chunks, i1 true, ptr %waiting, ptr %done)
  ret void
}
