"""Reads past a buffer in evolution: what the original reads, what a candidate may, and the bytes that are found there.

An original that makes none is run, and its candidates are, as ``--strict`` runs a program: the first such read is a failure. Where
it makes some, candidates may read past a buffer at the same places, no farther, and what they give must not depend
on what is read there: under other schedules they find other bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from kernelwright.device.describe_access import plural
from kernelwright.device.settings import OVERREAD
from kernelwright.evaluate.judging.fault_sites import Site
from kernelwright.evaluate.judging.launch_sites import farthest_past_buffers
from kernelwright.evaluate.judging.variant_launches import Done
from kernelwright.evaluate.outcome import Rejected
from kernelwright.lazy_dataclasses import dataclass

OTHER_BYTES = (0xFF, 0xCD)
"""What else such reads give when it is asked whether anything depends on them: as floating-point numbers no number, and -4e8;
as integers -1, and one that leads far away."""
SHOWN = 3


@dataclass(frozen=True)
class PastBuffers:
    """What is known of the original. ``farthest``: by place, bytes from the buffer."""

    farthest: Mapping[Site, int] = field(default_factory=dict)
    depends: bool = False
    """Whether its output depends on what it finds there."""

    @property
    def overread(self) -> int | None:
        """The byte that such reads give; None where the original makes none, so that a variant may make none either."""
        return OVERREAD if self.farthest else None

    def byte_of(self, number: int) -> int | None:
        """What they give under the schedule with this number, of those after the first."""
        if self.depends or not self.farthest:
            return self.overread
        return OTHER_BYTES[number % len(OTHER_BYTES)]

    def judge(self, done: Iterable[Done]) -> Rejected | None:
        """Why a candidate's reads are not allowed."""
        for site, far in sorted(farthest_past_buffers(done).items()):
            known = self.farthest.get(site)
            if known is None:
                return Rejected("fault", f"it has {site}, which the original has not", str(site.ends[-1]))
            if far > known:
                reason = f"it has {site}, {plural(far, 'byte')} from it where the original reads {known}"
                return Rejected("fault", reason, str(site.ends[-1]))
        return None

    def remarks(self) -> list[str]:
        """For a person, in a line."""
        if not self.farthest:
            return []
        ends = list(dict.fromkeys(str(end) for end in sorted(site.ends[0] for site in self.farthest)))
        more = f" and {len(ends) - SHOWN} more" if len(ends) > SHOWN else ""
        said = f"the original reads past its buffers, at {', '.join(ends[:SHOWN])}{more}, as GPUs let it: such reads give zeros; "
        if self.depends:
            return [
                f"{said}its output depends on what lies past its buffers, so that on a GPU it may differ from run to run"
            ]
        return [
            f"{said}a candidate may make them at the same places, no farther, and its output must not depend on what is read; "
            "one that keeps them is as safe as the original at best"
        ]
