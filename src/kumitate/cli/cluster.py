"""kumitate cluster"""

from __future__ import annotations

import os
import time
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError, needed
from .report import answering


def cluster(
    *,
    workers: Annotated[int | None, Parameter(help="Processes, of one thread each; as many as processors unless given.")] = None,
    host: Annotated[
        str, Parameter(help="Address to listen on. Whoever reaches it can run any code here: leave it, or trust the network.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port of the scheduler.")] = 8786,
) -> None:
    """Start a scheduler with workers on this machine, until Ctrl-C; `kumitate sweep --scheduler` uses it.

    Other users of this machine reach it too, and it runs what they send.
    """
    if workers is not None and workers < 0:
        raise InputError(f"--workers {workers}: must be a number of processes, 0 for a scheduler alone")
    distributed = needed("distributed", "a cluster needs dask", "sweep")
    os.environ["KUMITATE_THREADS"] = "1"
    count = (os.cpu_count() or 1) if workers is None else workers
    with distributed.LocalCluster(
        n_workers=count, threads_per_worker=1, host=host, scheduler_port=port, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as running, answering():  # fmt: skip
        print(
            f"{running.scheduler_address}  ({count} workers; kumitate sweep SCENARIO --scheduler {running.scheduler_address})",
            flush=True,
        )
        while True:
            time.sleep(3600.0)
