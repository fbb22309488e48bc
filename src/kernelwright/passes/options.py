"""What a compile may vary in the pipeline, as one frozen value that is also text: ``-O3 -slsr inline=50``."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LARGEST_THRESHOLD = 1_000_000
"""LLVM multiplies the inline threshold by 11 for NVPTX and by 150 for a percentage, in 32 bits, and aborts on a negative."""


@frozen
class PassOptions:
    """``level`` 0 to 3, the steps left out by short name, and thresholds set. Hashable; ``str`` and ``parse`` round-trip.

    Raises ``Misuse`` for a level out of range, an unknown name (with the nearest ones), a step that cannot be left out,
    and a negative threshold.
    """

    level: int = 3
    without: frozenset[str] = frozenset()
    thresholds: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if self.level not in range(4):
            raise Misuse(f"there is no optimisation level {self.level}", hint="choose -O0, -O1, -O2 or -O3")
        if not self.without and not self.thresholds:
            return
        from kernelwright.passes.pipeline import step, threshold

        for name in self.without:
            found = step(name)
            if not found.optional:
                raise Misuse(f"{found.name} cannot be left out: {found.off}", hint="kw passes lists the steps")
            if found.short != name:
                raise Misuse(
                    f"{name!r} is another name of {found.short!r}", hint="use PassOptions.of, which resolves names"
                )
        names = [name for name, _ in self.thresholds]
        if names != sorted(set(names)):
            raise Misuse("thresholds must be sorted by name, each once", hint="use PassOptions.of, which sorts them")
        for name, value in self.thresholds:
            if threshold(name).name != name or not 0 <= value <= LARGEST_THRESHOLD:
                raise Misuse(
                    f"threshold {name}={value} is not a number from 0 to {LARGEST_THRESHOLD}",
                    hint="kw passes lists the thresholds",
                )

    @classmethod
    def of(
        cls, level: int = 3, without: Iterable[str] = (), thresholds: Mapping[str, int] | None = None
    ) -> PassOptions:
        """Options from names as people write them: ``without`` takes short names, full names and aliases."""
        if not without and not thresholds:
            return cls(level)
        from kernelwright.passes.pipeline import step, threshold

        chosen = {threshold(name).name: value for name, value in (thresholds or {}).items()}
        return cls(level, frozenset(step(name).short for name in without), tuple(sorted(chosen.items())))

    @classmethod
    def parse(cls, text: str) -> PassOptions:
        """The value that prints as ``text``. Raises ``Misuse`` for a word that is no level, step or threshold."""
        level, without, thresholds = 3, [], {}
        for word in text.split():
            name, equals, value = word.partition("=")
            if word.startswith("-O") and word[2:].isdigit():
                level = int(word[2:])
            elif word.startswith("-"):
                without.append(word[1:])
            elif equals and value.isdigit():
                thresholds[name] = int(value)
            else:
                raise Misuse(
                    f"{word!r} is neither a level, a step left out nor a threshold", hint="like: -O3 -slsr inline=50"
                )
        return cls.of(level, without, thresholds)

    def __str__(self) -> str:
        words = [f"-O{self.level}", *(f"-{n}" for n in sorted(self.without)), *(f"{n}={v}" for n, v in self.thresholds)]
        return " ".join(words)


DEFAULT = PassOptions()
