"""Winners of several runs as versions of one program: each behind its checks, and behind thresholds of its own.

    smooth-1:v59/smooth=4096                    in a threshold file: this winner runs at launches of 4096 threads and more
    smooth-1:v59/smooth(rows*columns)=65536     ... where rows * columns is 65536 and more
    smooth-1:v59/smooth(-rows)=-512             ... where rows is at most 512; with both lines, where both hold

The name of a threshold says what it compares, so that the file alone tells. A threshold is one more check of the launch, so that
what takes winners takes tuned ones. While thresholds are tuned, each check says what it compares; a winner that its own checks
keep from running is not legal there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from kernelwright.cuda.names import readable
from kernelwright.errors import Misuse
from kernelwright.guards import Guard, LaunchFacts, Names
from kernelwright.kernel_version import Version
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.launch_values import Arguments, LaunchValue, launch_value
from kernelwright.versions.program import INFINITE, Compared, Thresholds

DEFAULT = "threads"
"""What thresholds of winners compare where nothing else is asked for."""
_WHOSE = re.compile(r"\s*([^=\s]*[^=\s<>])\s*=(?!=)(.*)", re.S)
"""``RUN=VALUE``. A value alone may end with ``>=`` or ``<=``."""


@dataclass(frozen=True)
class GuardedVersion:
    """A winner, and the numbers of a launch that its thresholds compare: all have to be reached."""

    version: Version
    values: tuple[LaunchValue, ...]

    def names(self) -> Iterator[tuple[str, LaunchValue]]:
        """What its thresholds are called."""
        for value in self.values:
            own = threshold_name(self.version)
            yield own if value.text == DEFAULT else f"{own}({value.text})", value


def threshold_name(version: Version) -> str:
    """What its threshold is called: the variant and the kernel, without blanks."""
    return f"{version.name}/{''.join(readable(version.kernel).split())}".replace("=", "")


def guarded(
    versions: Sequence[Version], arguments: Mapping[str, Arguments], by: Sequence[str] = ()
) -> list[GuardedVersion]:
    """The versions with what their thresholds compare. ``arguments``: by mangled kernel. ``by``: ``VALUE`` for all of them, or
    ``RUN=VALUE``, ``RUN:VARIANT=VALUE``, ``RUN/KERNEL=VALUE``; what is said of a version itself goes before what is said of all.

    Raises ``Misuse`` for a value that no launch has, and one for a version that is not there.
    """
    asked = [(found[1], found[2]) if (found := _WHOSE.fullmatch(text)) else ("", text) for text in by]
    for (whose, _), text in zip(asked, by, strict=True):
        if whose and not any(_is_called(version, whose) for version in versions):
            names = ", ".join(map(threshold_name, versions))
            raise Misuse(f"--by {text!r} is for {whose}, which is no winner here: there is {names}", hint="RUN=VALUE")
    made = []
    for version in versions:
        own = [value for whose, value in asked if whose and _is_called(version, whose)]
        texts = own or [value for whose, value in asked if not whose] or [DEFAULT]
        values = dict.fromkeys(_value(text, version, arguments, is_for_all=not own) for text in texts)
        made.append(GuardedVersion(version, tuple(values)))
    return made


def _value(text: str, version: Version, arguments: Mapping[str, Arguments], *, is_for_all: bool = False) -> LaunchValue:
    """Raises ``Misuse`` with the version's name for a number that launches of its kernel do not have."""
    try:
        return launch_value(text, arguments.get(version.kernel, {}))
    except Misuse as error:
        several = is_for_all and len(arguments) > 1
        hint = f'--by "RUN/KERNEL={text}" says it of one kernel alone; {error.hint}' if several else error.hint
        raise Misuse(f"{threshold_name(version)}: {error.message}", hint=hint) from None


def _is_called(version: Version, whose: str) -> bool:
    """Whether ``RUN``, ``RUN:VARIANT``, either with ``/KERNEL``, means this version."""
    variant, _, kernel = whose.partition("/")
    name = "".join(readable(version.kernel).split())
    return variant in (version.name, version.name.rpartition(":")[0]) and kernel in ("", name, name.partition("<")[0])


def guarded_by(
    versions: Sequence[Version], arguments: Mapping[str, Arguments], thresholds: Thresholds
) -> list[GuardedVersion]:
    """The versions with what the thresholds of a file compare. Raises ``Misuse`` for a name that says nothing of its kernel."""
    made = []
    for version in versions:
        own = threshold_name(version)
        inside = [name[len(own) :] for name in thresholds if name == own or name.startswith(f"{own}(")]
        values = [_value(text[1:-1] or DEFAULT, version, arguments) for text in inside]
        made.append(GuardedVersion(version, tuple(values)))
    return made


def tuned(versions: Sequence[GuardedVersion], thresholds: Thresholds) -> list[Version]:
    """The versions with their thresholds as the last of their checks. Those never to be taken are left out."""
    found = []
    for each in versions:
        at = [(value, thresholds.get(name, INFINITE)) for name, value in each.names()]
        if at and all(threshold != INFINITE for _, threshold in at):
            checks = (*each.version.guards, *(value.check(threshold) for value, threshold in at))
            words = (*each.version.words, *(value.words(threshold) for value, threshold in at))
            found.append(replace(each.version, guards=checks, words=words))
    return found


@dataclass(frozen=True)
class ToldCheck:
    """All checks of a winner and its thresholds, as one that notes what it compares."""

    values: tuple[tuple[str, LaunchValue], ...]
    thresholds: tuple[int, ...]
    checks: tuple[Guard, ...]
    heard: list[Compared] = field(compare=False)

    def holds(self, facts: LaunchFacts) -> bool:
        """Whether all checks hold and all thresholds are reached; what was compared is added to ``heard``."""
        found = [value.of(facts) for _, value in self.values]
        if None in found:
            return False  # There is nothing to compare: the winner is not for this launch.
        is_legal = all(check.holds(facts) for check in self.checks)
        for (name, _), number, threshold in zip(self.values, found, self.thresholds, strict=True):
            assert number is not None
            is_taken = is_legal and threshold != INFINITE and number >= threshold
            self.heard.append(Compared(name, number, is_taken, is_legal))
            if not is_taken:
                return False
        return True

    def in_words(self, names: Names) -> str:
        """For people: the names of all thresholds that are compared."""
        return f"thresholds of {', '.join(name for name, _ in self.values)}"

    def as_python(self) -> str:
        raise NotImplementedError("a check that is being tuned is not exported")

    def as_c(self) -> str:
        raise NotImplementedError("a check that is being tuned is not exported")


def told(versions: Sequence[GuardedVersion], thresholds: Mapping[str, int], heard: list[Compared]) -> list[Version]:
    """The versions with checks that add what they compare to ``heard``."""
    found = []
    for each in versions:
        values = tuple(each.names())
        at = tuple(thresholds.get(name, INFINITE) for name, _ in values)
        check = ToldCheck(values, at, each.version.guards, heard)
        words = f"threshold of {', '.join(name for name, _ in values)}"
        found.append(replace(each.version, guards=(check,), words=(words,)))
    return found
