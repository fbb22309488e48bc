"""The process in which ``kw bench simt`` runs PoCL."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

from kernelwright.bench.simt.cores import start_uninterrupted


def test_ctrl_c_does_not_reach_it_from_its_start_on() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,), daemon=True)
    start_uninterrupted(process)
    assert process.pid is not None
    for _ in range(10):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.05)
    assert process.is_alive()
    process.terminate()
    process.join(10)
    assert process.exitcode == -signal.SIGTERM
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
