"""A worker's whole life: set up once, then one item after another until the pool ends."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
import traceback
from typing import NoReturn

from kernelwright.farm import limits
from kernelwright.farm.lost_items import OUT_OF_MEMORY, raised
from kernelwright.farm.messages import Kind, Message, pack, receive, send
from kernelwright.farm.task import Task, Work

LOOK_AFTER_S = 0.5
"""How often a worker looks at the memory and the log it has used."""
LOG_BYTES = 1 << 20
COLLECT_AFTER = (10_000, 10, 10)
"""How many more objects a worker holds before it looks for circles among them, by generation. Python's 700 fit smaller programs."""


def live(post: socket.socket, life_line: int, task: Task, work: Work | None) -> NoReturn:
    """Serves the pool at the other end of ``post``. ``work`` is None where ``setup`` has yet to be called."""
    code = 1
    try:
        os.setpgid(0, 0)
        limits.die_with_writer(life_line)
        limits.no_core_files()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pool's business
        code = _serve(post, task, work)
    except (BrokenPipeError, ConnectionError):
        code = 0  # the pool is gone
    except MemoryError:
        code = _out_of_memory()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def collect_seldom() -> None:
    """Lets the collector of circles look at what is made from now on, and not often: what set-up has made stays."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _serve(post: socket.socket, task: Task, work: Work | None) -> int:
    if work is None:
        try:
            work = task.function()(*task.arguments)
        except Exception as error:
            send(post, Kind.FAILED, 0, pack(raised(error)))
            return 0
    collect_seldom()
    limit = limits.limit_memory(task.memory_bytes) if task.memory_bytes else 0
    send(post, Kind.READY, 0, b"")
    looked = time.monotonic()
    while message := receive(post):
        kind, body = _answer(work, message)
        del message
        send(post, kind, *body)
        if time.monotonic() - looked > LOOK_AFTER_S:
            looked = time.monotonic()
            if os.fstat(2).st_size > LOG_BYTES:
                os.ftruncate(2, 0)
            if limit and limits.data_bytes() > limit - task.memory_bytes // 2 and _too_large(limit, task.memory_bytes):
                return 0  # its successor begins with what set-up needs
    return 0


def _too_large(limit: int, more_bytes: int) -> bool:
    """Whether half of the memory is gone for good."""
    gc.collect()
    return limits.data_bytes() > limit - more_bytes // 2


def _answer(work: Work, message: Message) -> tuple[Kind, tuple[int, bytes]]:
    begin = time.perf_counter()
    kind, value = Kind.DONE, None
    try:
        value = work(message.value())
    except MemoryError:
        raise
    except BaseException as error:
        kind, value = Kind.RAISED, raised(error)
    seconds = time.perf_counter() - begin
    try:
        body = pack((seconds, value))
    except MemoryError:
        raise
    except Exception as error:
        kind, body = Kind.RAISED, pack((seconds, raised(error)))
    return kind, (message.number, body)


def _out_of_memory() -> int:
    limits.lift_memory_limit()
    os.write(2, b"\nMemoryError\n")
    return OUT_OF_MEMORY
