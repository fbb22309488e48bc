"""The other end of ``worker.py``: reads a configuration, then answers one request after another until its caller ends."""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import sys
import threading
from typing import Any, BinaryIO

from kernelwright.passes import isolation, switches, worker
from kernelwright.passes.process_result import answer


def main() -> None:
    """Serves requests from standard input. LLVM's own prints go to standard error, never between two answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    _send(answers, answer(_configure, (requests.get(),)))
    while True:
        _send(answers, answer(_call, requests.get()))


def _receive(pipe: BinaryIO, requests: queue.Queue[Any]) -> None:
    """Fills the queue, and ends the process the moment its caller is gone, whatever LLVM is busy with."""
    while header := pipe.read(worker.HEADER.size):
        requests.put(pickle.loads(pipe.read(worker.HEADER.unpack(header)[0])))
    os._exit(0)


def _configure(wanted: tuple[str, ...]) -> None:
    switches.apply(wanted)
    isolation.configure_here(wanted)


def _call(module: str, name: str, args: tuple[Any, ...]) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found(*args)


def _send(pipe: BinaryIO, data: bytes) -> None:
    pipe.write(worker.HEADER.pack(len(data)) + data)
    pipe.flush()


if __name__ == "__main__":
    main()
