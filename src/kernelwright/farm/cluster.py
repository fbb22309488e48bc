"""Work spread over the nodes of a Ray cluster, with the interface of a pool.

    with Cluster(prepare, (workload,), address="10.0.0.1:6379") as cluster:
        for index, result in cluster.map(candidates):     # a result, Raised(error), or Lost(stage, reason), as in a Pool
            ...

    this process ── socket ── bridge ── Ray ── an actor for each core, on any node ── a Pool of one process

The bridge alone speaks to Ray, for Ray ends a process whose cluster dies. An actor's pool isolates crashes and finds culprits
as the pool of one machine does; what was in work at an actor or a node that is lost is done again elsewhere.

Every node needs the same Kernelwright and Python. ``files`` that a node has not under the same path are sent to it; a Python
file that imports others, or reads data, needs those on every node.
"""

from __future__ import annotations

import itertools
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kernelwright.errors import Misuse, ToolError
from kernelwright.farm.cluster_spec import Spec
from kernelwright.farm.lost_items import Raised, raised
from kernelwright.farm.messages import Kind, Message, pack, pair, receive, send
from kernelwright.farm.pool import Pool
from kernelwright.farm.task import Work, task

CONNECT_S = 120.0
"""What joining a cluster may take."""
SILENCE_S = 150.0
"""After which a bridge that says nothing is taken for dead. It says something every second, unless Ray itself hangs."""
GONE_S = 15.0
"""How long Ray tries to reach a head node again before it ends the bridge."""
STOP_S = 15.0
_ADDRESS = re.compile(r"auto|(ray://)?[^\s/]+:\d+")
INSTALL = "pip install 'kernelwright[ray]'"
GO_ON = "what was found is kept: --resume goes on, with or without --cluster"
HOW = "ray status shows whether it runs; a machine outside of it gives ray://HOST:10001"


class Cluster:
    """Processes on a Ray cluster that each hold ``work = setup(*arguments)``; ``map``, ``close`` and ``workers`` as in ``Pool``.

    ``address``: ``HOST:PORT`` of the head node, ``auto`` for the cluster that this machine belongs to, ``ray://HOST:10001`` from
    a machine that belongs to none. ``workers``: how many at most (None: the cores of all nodes, or their GPUs). ``gpus``: how
    many of Ray's GPUs each worker has for itself. ``files``: what ``arguments`` name by these paths; each worker finds them.
    Raises ``Misuse`` for what is no address, ``ToolError`` when the cluster cannot be reached, or Ray is not installed; its
    methods, when the cluster is lost.
    """

    def __init__(
        self,
        setup: Callable[..., Work],
        arguments: Sequence[Any] = (),
        *,
        address: str,
        workers: int | None = None,
        timeout_s: float | None = None,
        memory_bytes: int | None = None,
        batch: tuple[int, int] | None = None,
        shared: bool = False,
        files: Sequence[Path | str] = (),
        gpus: float = 0.0,
    ) -> None:
        if workers is not None and workers < 1:
            raise Misuse(f"{workers} workers cannot work", hint="give 1 or more")
        if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
            raise Misuse(
                f"{address!r} is no address of a cluster", hint="auto, HOST:PORT of its head, or ray://HOST:10001"
            )
        task(setup, ())  # another process must find it
        spec = Spec.of(setup, arguments, timeout_s, memory_bytes, batch, shared, files)
        self.address = address
        self._numbers = itertools.count(1)
        self._running = False
        self._batch = batch
        self._bridge: _Bridge | None = _Bridge(address)
        try:
            self._bridge.tell(Kind.SETUP, 0, (address, spec, workers, gpus))
            self.workers: int = self._bridge.hear(CONNECT_S).value()
        except BaseException:
            self.close()
            raise

    def map(self, items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """``(index, result | Lost | Raised)`` of every item, in the order in which they finish.

        Raises what ``setup`` raises, ``ToolError`` when the cluster is lost, ``Misuse`` while another ``map`` is unfinished.
        """
        if self._running:
            raise Misuse("this cluster is busy with another map", hint="finish that one, or use a second pool")
        if self._bridge is None:
            raise Misuse("this cluster is closed", hint="make a new one")
        bridge, number = self._bridge, next(self._numbers)
        bodies, failed = _packed(items)
        yield from failed
        if not bodies:
            return
        self._running = True
        left = len(bodies)
        try:
            bridge.tell(Kind.WORK, number, bodies)
            while left:
                message = bridge.hear(SILENCE_S)
                if message.number != number:
                    message.discard()  # a late answer to a map that was abandoned
                    continue
                for index, value in message.value():
                    left -= 1
                    yield index, _opened(value)
        finally:
            self._running = False
            if left and self._bridge is not None:
                bridge.tell(Kind.KILL, number, None)

    def close(self) -> None:
        """Ends every worker; what is in work is lost."""
        if self._bridge is not None:
            self._bridge.close()
            self._bridge = None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def pool_for(
    cluster: str | None,
    setup: Callable[..., Work],
    arguments: Sequence[Any] = (),
    *,
    files: Sequence[Path | str] = (),
    gpus: float = 0.0,
    **options: Any,
) -> Pool | Cluster:
    """A pool of this machine's processes, or of a cluster's where one is given by its address. ``options``: a pool's."""
    if cluster is None:
        return Pool(setup, arguments, **options)
    return Cluster(setup, arguments, address=cluster, files=files, gpus=gpus, **options)


def _packed(items: Iterable[Any]) -> tuple[list[tuple[int, bytes]], list[tuple[int, Raised]]]:
    """Items as they travel, by their indices, and those that cannot."""
    bodies, failed = [], []
    for index, item in enumerate(items):
        try:
            bodies.append((index, pack(item)))
        except Exception as error:
            failed.append((index, raised(error)))
    return bodies, failed


def _opened(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    import pickle

    try:
        return pickle.loads(value)
    except Exception as error:
        return raised(error)


class _Bridge:
    """The process that speaks to Ray, seen from here. It ends with this one."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._joined = False
        self._post, theirs = pair()
        life_reader, self._life_line = os.pipe()
        path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), *filter(None, sys.path)])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kernelwright.farm.cluster_bridge", str(theirs.fileno()), str(life_reader)],
                pass_fds=[theirs.fileno(), life_reader],
                env={**os.environ, "RAY_gcs_rpc_server_reconnect_timeout_s": f"{GONE_S:g}", "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is this process's business
            )
            os.close(life_reader)

    def tell(self, kind: Kind, number: int, value: object) -> None:
        try:
            send(self._post, kind, number, pack(value))
        except OSError:
            pass  # it is gone, which listening tells

    def hear(self, within_s: float) -> Message:
        """Its next message that is more than a sign of life. Raises what it reports, and ``ToolError`` when it is gone."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._post, selectors.EVENT_READ)
            begin = time.monotonic()
            while True:
                if not selector.select(max(0.0, begin + within_s - time.monotonic())):
                    raise self._gone("does not answer")
                try:
                    message = receive(self._post)
                except OSError:
                    message = None
                if message is None:
                    raise self._gone("is lost: its head node has gone" if self._joined else "cannot be reached")
                if message.kind is Kind.BORN:
                    begin = time.monotonic()
                elif message.kind is Kind.FAILED:
                    found: Raised = message.value()
                    raise found.error
                else:
                    self._joined = True
                    return message

    def _gone(self, how: str) -> ToolError:
        return ToolError(f"the cluster at {self._address} {how}", hint=GO_ON if self._joined else HOW)

    def close(self) -> None:
        self._post.close()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._life_line)
