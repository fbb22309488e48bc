"""What a variant's figures are called, in which unit they are read, and which of them say something.

for counter in counters({"dram_bytes": (14.5e6, 9.1e6), ...}):
    counter.title, counter.original, counter.variant, counter.change
    "traffic to device memory"     "14.5 MB"     "9.1 MB"     "-37.2 %"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kernelwright.lazy_dataclasses import dataclass

TIME_OF = "us "
"""How the figure of one kernel's time begins: ``us advance``."""
FELT = 0.001
"""Share of a figure from which its change is shown."""


@dataclass(frozen=True)
class Counter:
    """One figure of the original and of the variant; ``unit`` is one of ```us```, ``B`` and none."""

    title: str
    unit: str
    before: float
    after: float

    @property
    def original(self) -> str:
        """The original's figure with its unit."""
        return self._text(self.before)

    @property
    def variant(self) -> str:
        """The variant's, in the same unit."""
        return self._text(self.after)

    @property
    def change(self) -> str:
        """``-31.9 %``, or ``same``."""
        if abs(self.after - self.before) <= FELT * abs(self.before):
            return "same"
        return f"{100 * (self.after - self.before) / self.before:+.1f} %" if self.before else "new"

    def __str__(self) -> str:
        return f"{self.title} {self.original} to {self.variant}"

    def _text(self, value: float) -> str:
        largest = max(abs(self.before), abs(self.after))
        scale, unit = next(((s, u) for s, u in _SCALES.get(self.unit, ()) if largest >= s), (1.0, self.unit))
        return f"{number(value / scale)} {unit}".rstrip()


_SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "": ((1e6, "M"),),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")),
}
_TITLES: Mapping[str, tuple[str, str]] = {
    "time_us": ("time in kernels", "us"),
    "with_launches_us": ("time with what launching costs", "us"),
    "instructions": ("warp instructions", ""),
    "sectors": ("memory sectors of 32 bytes", ""),
    "dram_bytes": ("traffic to device memory", "B"),
    "barriers": ("barriers passed, block by block", ""),
    "registers": ("registers per thread", ""),
}
"""By figure: its title and its unit, in the order they are shown. What is not here says nothing to a person."""


def counters(figures: Mapping[str, tuple[float, float]]) -> tuple[Counter, ...]:
    """The figures worth reading, time first; the time of single kernels only where there are several."""
    rows = list(_titled(figures))
    kernels = sorted(name for name in figures if name.startswith(TIME_OF))
    if len(kernels) > 1:
        rows[1:1] = [Counter(f"time of {name.removeprefix(TIME_OF)}", "us", *figures[name]) for name in kernels]
    return tuple(rows)


def _titled(figures: Mapping[str, tuple[float, float]]) -> Iterator[Counter]:
    for name, (title, unit) in _TITLES.items():
        if any(figures.get(name, ())):
            yield Counter(title, unit, *figures[name])


def besides_time(figures: Mapping[str, tuple[float, float]]) -> tuple[Counter, ...]:
    """The same without the times."""
    return tuple(counter for counter in counters(figures) if counter.unit != "us")


def number(value: float) -> str:
    """As many digits as a person compares: ``18,653``, ``14.54``, ``29``."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
