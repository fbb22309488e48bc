"""Winners of several runs as versions of one program: each behind its checks, and behind a threshold of its own.

    smooth-1:v59/smooth=4096        in a threshold file: this winner runs at launches of 4096 threads and more

The threshold is one more check of the launch (``grid.x * ... * block.z >= 4096``), so that whoever takes winners takes tuned ones.
While thresholds are tuned, each check says what it compares; a winner that its own checks keep from running is not legal there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from kernelwright.cuda.names import readable
from kernelwright.guards import Guard, LaunchFacts, Names
from kernelwright.kernel_version import Version
from kernelwright.launch_relations import Product, Quantity, Relation, value_of
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.program import INFINITE, Compared, Thresholds

THREADS = (
    Product(1, (*(Quantity("grid", axis) for axis in range(3)), *(Quantity("block", axis) for axis in range(3)))),
)
"""All threads of a launch, which is what thresholds of winners compare."""


def threshold_name(version: Version) -> str:
    """What its threshold is called: the variant and the kernel, without blanks."""
    return f"{version.name}/{''.join(readable(version.kernel).split())}".replace("=", "")


def tuned(versions: Sequence[Version], thresholds: Thresholds) -> list[Version]:
    """The versions with their thresholds as checks. Those never to be taken are left out."""
    found = []
    for version in versions:
        threshold = thresholds.get(threshold_name(version), INFINITE)
        if threshold != INFINITE:
            check = Relation(THREADS, ">=", (Product(threshold),))
            words = (*version.words, f"threads of the launch >= {threshold}")
            found.append(replace(version, guards=(*version.guards, check), words=words))
    return found


def without_threshold(version: Version) -> Version:
    """What ``tuned`` made it from."""
    return replace(version, guards=version.guards[:-1], words=version.words[:-1])


@dataclass(frozen=True)
class ToldCheck:
    """All checks of a winner and its threshold, as one that notes what it compares."""

    name: str
    threshold: int
    checks: tuple[Guard, ...]
    heard: list[Compared] = field(compare=False)

    def holds(self, facts: LaunchFacts) -> bool:
        value = value_of(THREADS, facts)
        assert value is not None  # every launch has a grid and a block
        legal = all(check.holds(facts) for check in self.checks)
        taken = legal and self.threshold != INFINITE and value >= self.threshold
        self.heard.append(Compared(self.name, value, taken))
        return taken

    def in_words(self, names: Names) -> str:
        return f"threads of the launch >= {self.threshold}"

    def as_python(self) -> str:
        raise NotImplementedError("a check that is being tuned is not exported")

    def as_c(self) -> str:
        raise NotImplementedError("a check that is being tuned is not exported")


def told(versions: Sequence[Version], thresholds: Mapping[str, int], heard: list[Compared]) -> list[Version]:
    """The versions with checks that add what they compare to ``heard``."""
    found = []
    for version in versions:
        name = threshold_name(version)
        check = ToldCheck(name, thresholds.get(name, INFINITE), version.guards, heard)
        found.append(replace(version, guards=(check,), words=(f"threshold of {name}",)))
    return found
