"""What ``kw run`` says of what was let pass as GPUs do, reads past a buffer and warps that meet at different barriers: a line for each
place in the source, when the program ends."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kernelwright.device.serving.observer import Observer
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from kernelwright.device.execution import Execution
    from kernelwright.device.fault import Location
    from kernelwright.device.overread import Overread
    from kernelwright.device.virtual_gpu.gpu import Launched

OF_READS = (
    "a GPU lets such reads pass, and here they give zeros; --strict stops at the first, kw check names its thread"
)
OF_BARRIERS = (
    "CUDA calls that undefined; a GPU counts who has come to any of them, and so does this run; --strict stops at the first, "
    "kw check names a thread"
)


@dataclass
class _Place:
    where: Location
    kernel: str
    reads: int = 0
    farthest: Overread | None = None
    arguments: list[str] = field(default_factory=list)
    """The kernel's names for the buffer of the farthest read."""
    buffers: set[tuple[str, bool]] = field(default_factory=set)
    """Those that reads went past, and on which side."""


class LetPass(Observer):
    """Counts them by source line, over all launches."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], _Place] = {}
        self._met: dict[str, None] = {}
        """Sentences about barriers."""

    def after_launch(self, execution: Execution, launched: Launched, seconds: float) -> None:
        for one in launched.overreads:
            self._add(one, execution)
        if launched.result.met:
            self._met[_of_barriers(launched)] = None

    def _add(self, one: Overread, execution: Execution) -> None:
        from kernelwright.device.serving.fault_sentence import arguments_that

        place = self._places.setdefault((one.kernel, str(one.where)), _Place(one.where, one.kernel))
        place.reads += one.count
        place.buffers.add((one.buffer.name, one.before))
        known = place.farthest
        if known is None or one.farthest > known.farthest:
            place.farthest = one
            kernel = execution.loaded.module.functions[one.kernel]
            inside = range(one.buffer.address, one.buffer.end)
            place.arguments = arguments_that(inside.__contains__, kernel, execution.launch.parameters)

    def sentences(self) -> list[str]:
        """One for each place, and one that says how such are treated; none where there were none."""
        reads = [_sentence(place) for place in self._places.values()]
        return [*reads, *([OF_READS] if reads else []), *self._met, *([OF_BARRIERS] if self._met else [])]


def _sentence(place: _Place) -> str:
    from kernelwright.cuda.names import readable
    from kernelwright.device.describe_access import plural

    assert place.farthest is not None
    named = f", argument {' and '.join(place.arguments)}" if place.arguments else ""
    others = len(place.buffers) - 1
    more = f", and past {plural(others, 'other buffer')}" if others else ""
    return (
        f"{place.where}: kernel {readable(place.kernel)} reads past a buffer: {plural(place.reads, 'read')}, "
        f"{place.farthest.reach}{named}{more}"
    )


def _of_barriers(launched: Launched) -> str:
    from kernelwright.cuda.names import readable
    from kernelwright.device.locations import location_of

    one, other = (location_of(barrier) if barrier is not None else None for barrier in launched.result.met)
    return f"{one}: kernel {readable(launched.kernel)}: warps of a block wait at this barrier for others that wait at the one at {other}"
