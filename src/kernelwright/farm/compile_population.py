"""Individuals through a back end, without those that do not compile: what a farm's workers do with a batch."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.farm.backends.backend import Backend, Image, Level, Refused
from kernelwright.farm.backends.bundle import Frame
from kernelwright.farm.lost_items import Raised
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Built:
    """Where an individual is: launch ``kernel`` of ``image`` with ``slot`` as the block's y index."""

    image: Image
    individual: int
    """Its number in the image."""

    @property
    def kernel(self) -> str:
        """The name of the kernel in the image."""
        return self.image.places[self.individual][0]

    @property
    def slot(self) -> int:
        """The individual's place among those of its kernel: the block's y index."""
        return self.image.places[self.individual][1]


def build(
    backend: Backend, frame: Frame, population: Sequence[str], level: Level = "quick"
) -> list[Built | Raised]:  # fmt: skip
    """Compiles all of them together. Of those that the back end complains about, the first is to blame; the others may
    only have followed it, as behind a brace too many, and are tried again on their own. Where it names none, each half is
    tried by itself.
    """
    found: dict[int, Built | Raised] = {}
    parts = [list(range(len(population)))]
    while parts:
        part = parts.pop()
        try:
            image = backend.compile([population[i] for i in part], frame, level)
        except Refused as error:
            if not error.individuals and len(part) > 1:
                middle = len(part) // 2
                parts += [part[middle:], part[:middle]]
                continue
            named = list(error.individuals)
            first = named[0] if named else 0
            found[part[first]] = Raised(error.individuals.get(first, error))
            followers = [part[at] for at in sorted(named[1:])]
            others = [i for at, i in enumerate(part) if at not in named and at != first]
            parts += [each for each in (followers, others) if each]
        else:
            found.update((i, Built(image, at)) for at, i in enumerate(part))
    return [found[i] for i in range(len(population))]
