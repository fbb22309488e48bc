"""What a check comes to: its findings, those that are suppressed apart, and whether all of the program was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelwright.device.checking.findings import CheckFinding, Findings
from kernelwright.device.checking.suppressions import Suppression
from kernelwright.device.describe_access import plural
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class CheckReport:
    """One check of one program, in the order in which things were met."""

    program: str
    defects: tuple[CheckFinding, ...]
    """What fails the check."""
    notes: tuple[CheckFinding, ...]
    """Benign findings."""
    suppressed: tuple[tuple[CheckFinding, Suppression], ...]
    """Defects and notes that an entry lets stand, with the first one that does."""
    unmatched: tuple[Suppression, ...]
    """Entries about nothing that was found."""
    has_suppressions: bool
    """Whether entries were given at all."""
    launches: int
    schedules: int
    """Other orders tried for each launch."""
    incomplete: tuple[str, ...]
    """Kernels of which a part was not checked, because they do more than is followed."""
    is_whole: bool
    """False when a device worker died, so that nothing is known of what it would have seen."""

    @classmethod
    def of(
        cls,
        program: str,
        findings: Findings,
        suppressions: Sequence[Suppression] = (),
        *,
        launches: int,
        schedules: int = 0,
        incomplete: Sequence[str] = (),
        is_whole: bool = True,
    ) -> CheckReport:
        """Sorts findings into defects, notes and suppressed ones. ``launches``, ``schedules``: how many there were."""
        left: dict[bool, list[CheckFinding]] = {False: [], True: []}
        suppressed = []
        matched: set[int] = set()
        for one in [*findings.defects, *findings.notes]:
            about = [number for number, each in enumerate(suppressions) if each.matches(one)]
            matched.update(about)
            if about:
                suppressed.append((one, suppressions[about[0]]))
            else:
                left[one.benign].append(one)
        return cls(
            program,
            tuple(left[False]),
            tuple(left[True]),
            tuple(suppressed),
            tuple(each for number, each in enumerate(suppressions) if number not in matched),
            bool(suppressions),
            launches,
            schedules,
            tuple(incomplete),
            is_whole,
        )

    @property
    def exit_code(self) -> int:
        """0 nothing found, 1 findings, 3 not all was seen."""
        if not self.is_whole:
            return 3
        return 1 if self.defects else 0

    def remarks(self) -> list[str]:
        """What is to be said beside the findings, a sentence each."""
        said = [f"the suppression of {one} matches nothing that was found" for one in self.unmatched]
        said += [
            f"{kernel} does more than is followed, with memory or with atomics; part of it was not checked"
            for kernel in self.incomplete
        ]
        if not self.is_whole:
            said.append("a device worker did not start or ended early, so the check is not complete")
        return said

    def summary(self) -> str:
        """``2 findings, 1 suppressed (1 benign) in 6 launches``."""
        count = len(self.defects)
        found = plural(count, "finding") if count else "nothing found"
        if self.suppressed:
            found += f", {len(self.suppressed)} suppressed"
        notes = f" ({len(self.notes)} benign)" if self.notes else ""
        return f"{found}{notes} in {self.launches} launch{'' if self.launches == 1 else 'es'}"

    def as_json(self) -> dict[str, Any]:
        """``kw check --json``. What there is none of is left out, the findings apart."""
        rows: dict[str, Any] = {"findings": [one.as_json() for one in self.defects]}
        if self.notes:
            rows["notes"] = [one.as_json() for one in self.notes]
        if self.suppressed:
            rows["suppressed"] = [{**one.as_json(), "reason": by.reason} for one, by in self.suppressed]
        if self.unmatched:
            rows["unmatched"] = [one.as_json() for one in self.unmatched]
        return rows
