"""Which launches of a recording candidates are judged by, so that one evaluation takes milliseconds.

A program may launch a kernel a thousand times, alike but for the data. Of the launches of a kernel with one block shape
some are chosen: the one that does most, any that runs code no other chosen one runs or has blocks in dimensions in which no other
has, and the middle and the least of them.
Each stands for those that do about as much as it does, and its time counts as theirs together.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from kernelwright.device.arena import Arena
from kernelwright.device.settings import OVERREAD
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture.capture import Capture, RecordedLaunch
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.capture.replay import is_called
from kernelwright.evaluate.judging.case_runner import Runner, Stopped
from kernelwright.evaluate.workload.subject import Chosen
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

LOOKED_AT = 300
"""Launches of a recording that are run to see what they do; of more, a sample over the whole of it."""
PER_GROUP = 3
"""Launches chosen of a kernel with one block shape, besides those that other code runs in."""

PER_GROUP_OF_FURTHER = 1
"""The same of a data set that is there for its size: what a loop's launches differ by, the first set shows."""

HELD = 12
"""Launches of a recording that are held out for the proof."""
ALIKE = 0.05
"""Launches whose work differs by less than that share do the same work."""

Group = tuple[str, Triple]


@dataclass(frozen=True)
class Looked:
    """What a launch does in the original. ``work``: warp executions of blocks. ``code``: the blocks that ran."""

    number: int
    group: Group
    work: int
    code: frozenset[int]
    stands_for: float = 1.0
    """How many launches of its group it was taken from; a sample stands for more than itself."""
    grid: Triple = (1, 1, 1)

    @property
    def covers(self) -> frozenset[Hashable]:
        """The blocks of instructions that ran, and in which dimensions there is more than one block of threads."""
        return frozenset((self.group, part) for part in (*self.code, tuple(n > 1 for n in self.grid)))


def look(capture: Capture, kernels: Sequence[str] = ()) -> list[Looked]:
    """Runs the launches of a recording (of ``kernels`` as a person calls them, or all) and says what they do.

    Raises ``Misuse`` when there is none, or one fails.
    """
    wanted = [n for n in capture.launches if not kernels or any(is_called(n, k) for k in kernels)]
    failed = [launch.fault for launch in wanted if launch.fault]
    wanted = [launch for launch in wanted if not launch.fault]
    if failed and not wanted:
        raise Misuse(f"the original itself fails: {failed[0]}", hint="mend the program first; kw check shows where")
    if not wanted:
        raise Misuse(
            f"the program launches no kernel{' called ' + ' or '.join(kernels) if kernels else ''}",
            hint=f"it launches {', '.join(capture.kernels) or 'none at all'}",
        )
    sampled = _sample(wanted)
    modules: dict[str, Module] = {}
    gpu = VirtualGpu()
    found: list[Looked] = []
    arena: Arena | None = None
    try:
        for launch, stands_for in sampled:
            module = modules.setdefault(launch.module, parse_module(capture.ir(launch.module)))
            case = RecordedCase(capture, launch, module)
            arena = arena or case.arena()
            runner = Runner({launch.kernel: module}, gpu.run, arena, overread=OVERREAD)
            try:
                case.run(runner, launch.kernel)
            except Stopped as stopped:
                raise Misuse(
                    f"the original {case.name} fails: {stopped.rejected}", hint="mend the program first"
                ) from None
            done = runner.results[0]
            assert isinstance(done, Launched)
            runs = done.result.executions.tolist()
            code = frozenset(i for i, count in enumerate(runs) if count)
            group = (launch.kernel, launch.launch.block)
            found.append(Looked(launch.number, group, max(1, sum(runs)), code, stands_for, launch.launch.grid))
    finally:
        if arena is not None:
            arena.close()
    return found


def _sample(launches: Sequence[RecordedLaunch]) -> list[tuple[RecordedLaunch, float]]:
    """At most ``LOOKED_AT`` launches, as many of each kernel with one block shape as can be, spread over the program."""
    groups: dict[Group, list[RecordedLaunch]] = {}
    for launch in launches:
        groups.setdefault((launch.kernel, launch.launch.block), []).append(launch)
    most = max(1, LOOKED_AT // len(groups))
    found: list[tuple[RecordedLaunch, float]] = []
    for group in groups.values():
        count = min(most, len(group))
        # From the first to the last: loops begin and end with the launches that differ most.
        places = sorted({round(i * (len(group) - 1) / max(1, count - 1)) for i in range(count)})
        found += [(group[place], len(group) / len(places)) for place in places]
    return sorted(found, key=lambda pair: pair[0].number)


def choose(recording: int, looked: Sequence[Looked], per_group: int = PER_GROUP) -> tuple[Chosen, ...]:
    """Some of the launches, each with its weight; in the order of the program. ``per_group``: of a kernel with one block shape, besides
    those that other code runs in."""
    groups: dict[Group, list[Looked]] = {}
    for each in looked:
        groups.setdefault(each.group, []).append(each)
    chosen = [one for group in groups.values() for one in _of_group(recording, group, per_group)]
    return tuple(sorted(chosen, key=lambda each: each.launch))


def rest(recording: int, looked: Sequence[Looked], chosen: Sequence[Chosen], most: int = HELD) -> tuple[Chosen, ...]:
    """Launches that were not chosen, for a proof: at most so many. First those that cover what no chosen one does, and one of each
    grid and block that no chosen one has; then others, spread over the program."""
    taken = {each.launch for each in chosen if each.recording == recording}
    left = [each for each in looked if each.number not in taken]
    covered: set[Hashable] = set()
    for each in looked:
        if each.number in taken:
            covered |= _shapes_and_code(each)
    found: list[int] = []
    while left and len(found) < most:
        best = max(left, key=lambda each: (len(_shapes_and_code(each) - covered), -each.number))
        if not _shapes_and_code(best) - covered:
            break
        found.append(best.number)
        left.remove(best)
        covered |= _shapes_and_code(best)
    step = max(1, math.ceil(len(left) / max(1, most - len(found))))
    found += [each.number for each in left[::step]] if len(found) < most else []
    return tuple(Chosen(recording, number) for number in sorted(found))


def _shapes_and_code(each: Looked) -> frozenset[Hashable]:
    return each.covers | {(each.group, "grid", each.grid)}


def _of_group(recording: int, launches: list[Looked], per_group: int) -> list[Chosen]:
    ranked = sorted(launches, key=lambda each: (-each.work, each.number))
    if len(ranked) <= per_group:
        return [Chosen(recording, each.number, round(each.stands_for, 3)) for each in ranked]
    picked = [ranked[0]]
    covered = set(ranked[0].covers)
    while True:
        best = max(ranked, key=lambda each: len(each.covers - covered))
        if not best.covers - covered:
            break
        picked.append(best)
        covered |= best.covers
    middle, last = ranked[len(ranked) // 2], max(launches, key=lambda each: each.number)
    for other in (last, middle, ranked[-1]):
        # Launches that do the same work on other data: the first and the last of them are enough.
        if (
            len(picked) < per_group
            and (other is last or min(_distance(p, other)[0] for p in picked))
            and other not in picked
        ):
            picked.append(other)
    stands_for = dict.fromkeys((p.number for p in picked), 0.0)
    for each in ranked:
        stands_for[min(picked, key=lambda one: _distance(one, each)).number] += each.work * each.stands_for
    return [Chosen(recording, p.number, round(stands_for[p.number] / p.work, 3)) for p in picked]


def _distance(one: Looked, other: Looked) -> tuple[int, int]:
    """How unlike two launches are: by their work in steps of a twentieth, then by their places in the program."""
    return round(abs(math.log(one.work / other.work)) / ALIKE), abs(one.number - other.number)
