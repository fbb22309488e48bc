"""The process between a ``Cluster`` and Ray: ``python -m kernelwright.farm.cluster_bridge SOCKET LIFE_LINE``.

It starts actors on the nodes, hands out parcels of items, and hands those of lost actors out again. A parcel holds a tenth of a
second's worth; each actor has one in work and one in hand. What takes very long while another worker has nothing to do is given
to that one too, and the first answer counts.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.farm import limits
from kernelwright.farm.cluster import GO_ON, HOW, INSTALL
from kernelwright.farm.cluster_spec import Actor, Spec
from kernelwright.farm.lost_items import Lost, Raised, raised
from kernelwright.farm.messages import Kind, Message, pack, receive, send
from kernelwright.lazy_dataclasses import dataclass

FILL_S = 0.1
"""What a parcel should take."""
HELD = 2
"""Parcels that an actor holds."""
TICK_S = 0.2
LATE_S, TIMES_LATE = 5.0, 5.0
"""When another idle worker gets a parcel too: after the first, and that many times what it should take."""
CHANCES = 4
"""Actors that may be lost with an item in work; then it is the item's."""
COUNT_S = 10.0
"""How often to look for nodes that have joined."""
WAIT_S = 60.0
"""How long to wait for a worker when there is none."""
SET_UP_DEATHS = 3
"""Actors in a row that are lost before they have answered once."""


class Abandoned(Exception):
    """Nothing waits for this work any more."""


@dataclass(eq=False)
class Parcel:
    """Items by their numbers. ``copies``: how many actors have it."""

    numbers: tuple[int, ...]
    deaths: int = 0
    copies: int = 0
    since: float = 0.0
    done: bool = False


@dataclass(eq=False)
class Hand:
    """An actor. ``held``: the parcels it has, by the reference to their results; ``asked``: to its first answer."""

    actor: Any
    asked: Any
    ready: bool = False
    answered: bool = False
    """Whether it has ever done a parcel; the first one includes setting up."""
    held: dict[Any, Parcel] = field(default_factory=dict)


class Crew:
    """The actors there are, and those still to come."""

    def __init__(self, ray: Any, spec: Spec, wanted: int | None, gpus: float) -> None:
        self._ray = ray
        self._spec = spec
        self._wanted = wanted
        self._gpus = gpus
        self._kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0)(Actor)
        self._contents: dict[int, Any] = {}
        self._deaths = 0
        self._none_since = self._counted = time.monotonic()
        self.hands: list[Hand] = []
        self.workers = self._room()
        if not self.workers:
            what = "GPU" if gpus else "core"
            raise ToolError(f"the cluster has no {what} to work on", hint="ray status shows what it has")

    def man(self) -> None:
        """Starts what is missing, also on nodes that have joined since. Raises ``ToolError`` when none has come for long."""
        if time.monotonic() > self._counted + COUNT_S or len(self.hands) < self.workers:
            self._counted = time.monotonic()
            self.workers = self._room()
        for _ in range(self.workers - len(self.hands)):
            actor = self._kind.remote(self._spec)
            self.hands.append(Hand(actor, actor.missing.remote()))
        if any(hand.ready for hand in self.hands):
            self._none_since = time.monotonic()
        elif time.monotonic() - self._none_since > WAIT_S:
            raise ToolError(f"the cluster has had no worker for {WAIT_S:g} s", hint=f"ray status shows why; {GO_ON}")

    def references(self) -> dict[Any, Hand]:
        """Whatever may be answered, and by whom."""
        return {ref: hand for hand in self.hands for ref in (*hand.held, *([] if hand.ready else [hand.asked]))}

    def met(self, hand: Hand, missing: list[int] | Raised) -> None:
        """A new actor has said which files it lacks."""
        if isinstance(missing, Raised):
            raise missing.error
        if missing:
            for number in missing:
                if number not in self._contents:
                    self._contents[number] = self._ray.put(Path(self._spec.files[number].path).read_bytes())
            hand.actor.take.remote(missing, *(self._contents[number] for number in missing))
        hand.ready = True
        self._deaths = 0

    def lost(self, hand: Hand, error: Exception) -> list[Parcel]:
        """Its parcels. Raises ``ToolError`` when it is the cluster that is lost, or none can be set up."""
        self.hands.remove(hand)
        try:
            self._ray.kill(hand.actor)
        except Exception:
            pass
        if not hand.ready:
            self._deaths += 1
            if self._deaths >= SET_UP_DEATHS:
                raise ToolError(
                    f"workers cannot be set up on the cluster: {_line(error)}",
                    hint="install the same Kernelwright on every node",
                )
        if not any(each.ready for each in self.hands) and not _reachable(_head(self._ray)):
            raise ToolError("the cluster is lost: its head node has gone", hint=GO_ON)
        return list(hand.held.values())

    def _room(self) -> int:
        there = self._ray.cluster_resources()
        found = int(there.get("CPU", 0))
        if self._gpus:
            found = min(found, int(there.get("GPU", 0) / self._gpus))
        return found if self._wanted is None else min(found, self._wanted)


class Run:
    """One ``map``: what is still to hand out, what is in work, what has finished."""

    def __init__(self, ray: Any, crew: Crew, spec: Spec, bodies: list[tuple[int, bytes]], mean_s: float) -> None:
        self._ray = ray
        self._crew = crew
        self._least = spec.batch[0] if spec.batch else 1
        self._bodies = dict(bodies)
        self._pending: deque[int] = deque(self._bodies)
        self._again: deque[Parcel] = deque()
        self._out: list[Parcel] = []
        self.left = len(bodies)
        self.mean_s = mean_s
        """Seconds that an item takes, 0 as long as it is unknown."""

    def results(self) -> Iterator[list[tuple[int, Any]]]:
        """``(index, a pickle | Lost | Raised)``, as they come; an empty list now and then."""
        while self.left:
            self._crew.man()
            self._hand_out()
            found: list[tuple[int, Any]] = []
            references = self._crew.references()
            done, _ = self._ray.wait(list(references), num_returns=1, timeout=TICK_S)
            for reference in done:
                found += self._answered(references[reference], reference)
            self.left -= len(found)
            yield found

    def _answered(self, hand: Hand, reference: Any) -> list[tuple[int, Any]]:
        try:
            answer = self._ray.get(reference)
        except Exception as error:
            lost = [parcel for parcel in self._crew.lost(hand, error) if parcel in self._out]
            return [each for parcel in lost for each in self._returned(parcel)]
        if reference is hand.asked or reference == hand.asked:
            self._crew.met(hand, answer)
            return []
        parcel = hand.held.pop(reference)
        if isinstance(answer, Raised):
            raise answer.error
        if parcel.done or parcel not in self._out:
            return []  # another was faster, or it belongs to a map that was abandoned
        parcel.done = True
        self._out.remove(parcel)
        seconds, values = answer
        if hand.answered:
            each = seconds / len(parcel.numbers)
            self.mean_s = each if not self.mean_s else self.mean_s + (each - self.mean_s) / 8
        hand.answered = True
        return list(zip(parcel.numbers, values, strict=True))

    def _returned(self, parcel: Parcel) -> list[tuple[int, Any]]:
        """An actor was lost with it: to be handed out again, one by one, so that a culprit stands alone."""
        parcel.copies -= 1
        if parcel.copies:
            return []
        self._out.remove(parcel)
        deaths = parcel.deaths + 1
        if deaths >= CHANCES and len(parcel.numbers) == 1:
            return [(parcel.numbers[0], Lost("crash", f"{deaths} workers of the cluster were lost while it ran"))]
        self._again.extend(Parcel((number,), deaths) for number in parcel.numbers)
        return []

    def _hand_out(self) -> None:
        for held in range(HELD):
            for hand in self._crew.hands:
                if hand.ready and len(hand.held) == held and (parcel := self._next(held)):
                    self._give(hand, parcel)

    def _next(self, held: int) -> Parcel | None:
        if self._again:
            parcel = self._again.popleft()
        elif self._pending:
            parcel = Parcel(tuple(self._pending.popleft() for _ in range(min(self._size(), len(self._pending)))))
        else:
            return None if held else self._late()
        parcel.since = time.monotonic()
        self._out.append(parcel)
        return parcel

    def _size(self) -> int:
        """As many as fill the time, but so that all workers have something to the end."""
        share = math.ceil(len(self._pending) / (HELD * max(1, len(self._crew.hands))))
        wanted = math.ceil(FILL_S / self.mean_s) if self.mean_s else 1
        return max(self._least, min(wanted, share))

    def _late(self) -> Parcel | None:
        now = time.monotonic()
        for parcel in self._out:
            expected = HELD * self.mean_s * len(parcel.numbers)
            if parcel.copies == 1 and now - parcel.since > max(LATE_S, TIMES_LATE * expected):
                return parcel
        return None

    def _give(self, hand: Hand, parcel: Parcel) -> None:
        parcel.copies += 1
        hand.held[hand.actor.work.remote([self._bodies[number] for number in parcel.numbers])] = parcel


def connect(address: str) -> Any:
    """Ray, connected. Raises ``ToolError``."""
    try:
        import ray
    except ImportError:
        raise ToolError("Ray is not installed", hint=INSTALL) from None
    bare = address.removeprefix("ray://")
    if ":" in bare and not _reachable(bare):
        raise ToolError(f"there is no cluster at {address}", hint=HOW)
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, configure_logging=False)
    except Exception as error:
        if address == "auto" and isinstance(error, ConnectionError):
            raise ToolError(
                "this machine belongs to no Ray cluster", hint=f"ray start --head makes it one's head; {HOW}"
            ) from None
        raise ToolError(f"the cluster at {address} cannot be joined: {_line(error)}", hint=HOW) from None
    return ray


def serve(control: socket.socket) -> None:
    """Until the cluster's owner is gone."""
    message = receive(control)
    if message is None:
        return
    address, spec, wanted, gpus = message.value()
    ray = connect(address)
    crew = Crew(ray, spec, wanted, gpus)
    send(control, Kind.READY, 0, pack(crew.workers))
    crew.man()
    mean_s = 0.0
    while message := receive(control):
        if message.kind is not Kind.WORK:
            message.discard()
            continue
        run = Run(ray, crew, spec, message.value(), mean_s)
        try:
            _map(control, message.number, run)
        except Abandoned:
            pass
        mean_s = run.mean_s
    ray.shutdown()


def _map(control: socket.socket, number: int, run: Run) -> None:
    spoke = 0.0
    for found in run.results():
        if found:
            send(control, Kind.DONE, number, pack(found))
        elif time.monotonic() - spoke > 1.0:
            spoke = time.monotonic()
            send(control, Kind.BORN, number, b"")
        if run.left and _called_off(control):  # behind the last answer, the next work may be waiting
            raise Abandoned


def _called_off(control: socket.socket) -> bool:
    """Whether the owner has said so. Raises ``BrokenPipeError`` when it is gone."""
    try:
        message: Message | None = receive(control, wait=False)
    except BlockingIOError:
        return False
    if message is None:
        raise BrokenPipeError
    return message.kind is Kind.KILL


def _head(ray: Any) -> str:
    try:
        return str(ray.get_runtime_context().gcs_address)
    except Exception:
        return ""


def _reachable(address: str) -> bool:
    """Whether a process listens at ``HOST:PORT``; True for an address that is none."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return True
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError:
        return False
    return True


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:200]}" if lines else type(error).__name__


def main() -> None:
    """The process: answers the cluster's messages until the socket is closed."""
    control, life_line = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    for each in (control.fileno(), life_line):
        os.set_inheritable(each, False)
    limits.die_with_writer(life_line)
    try:
        serve(control)
    except (BrokenPipeError, ConnectionResetError):
        pass
    except KernelwrightError as error:
        _fail(control, raised(error))
    except Exception as error:
        _fail(control, Raised(ToolError(f"the cluster fails: {_line(error)}", hint=GO_ON)))


def _fail(control: socket.socket, error: Raised) -> None:
    """The last word: Ray, left to end in its own way, would wait for a head node that may be gone."""
    send(control, Kind.FAILED, 0, pack(error))
    os._exit(1)


if __name__ == "__main__":
    main()
