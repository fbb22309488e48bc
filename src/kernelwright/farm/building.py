"""A batch of individuals through a back end, without those that do not compile: what a farm's workers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelwright.cache import Cache, content_key
from kernelwright.farm.backends.backend import Backend, Image, Level, Refused
from kernelwright.farm.backends.frame import Frame
from kernelwright.farm.lost_items import Raised


@dataclass(frozen=True)
class Built:
    """Where an individual is: launch ``kernel`` of ``image`` with ``slot`` as the block's y index."""

    image: Image
    individual: int
    """Its number in the image."""
    level: Level

    @property
    def kernel(self) -> str:
        return self.image.places[self.individual][0]

    @property
    def slot(self) -> int:
        return self.image.places[self.individual][1]


def building(backend: Backend, frame: Frame, keep: bool) -> Callable[[list[tuple[Level, str]]], list[Built | Raised]]:
    """The set-up of a farm's workers. ``keep``: whether images go to the cache."""
    cache = Cache() if keep else None
    fingerprint = backend.fingerprint()

    def work(batch: list[tuple[Level, str]]) -> list[Built | Raised]:
        level = batch[0][0]
        return build(backend, frame, [text for _, text in batch], level, cache, fingerprint)

    return work


def build(
    backend: Backend,
    frame: Frame,
    population: Sequence[str],
    level: Level,
    cache: Cache | None = None,
    fingerprint: str = "",
) -> list[Built | Raised]:
    """Compiles all of them together. Of those that the back end complains about, the first is to blame; the others may
    only have followed it, as behind a brace too many, and are tried again on their own.

    Raises ``CompileError`` when they do not compile and nobody is named.
    """
    found: dict[int, Built | Raised] = {}
    parts = [list(range(len(population)))]
    while parts:
        part = parts.pop()
        try:
            image = _image(backend, frame, [population[i] for i in part], level, cache, fingerprint)
        except Refused as error:
            if not error.individuals and len(part) > 1:
                raise
            named = list(error.individuals)
            first = named[0] if named else 0
            found[part[first]] = Raised(error.individuals.get(first, error))
            followers = [part[at] for at in sorted(named[1:])]
            others = [i for at, i in enumerate(part) if at not in named and at != first]
            parts += [each for each in (followers, others) if each]
        else:
            found.update((i, Built(image, at, level)) for at, i in enumerate(part))
    return [found[i] for i in range(len(population))]


def _image(
    backend: Backend, frame: Frame, population: Sequence[str], level: Level, cache: Cache | None, fingerprint: str
) -> Image:
    if cache is None:
        return backend.compile(population, frame, level)
    key = content_key([backend.name, fingerprint, repr(frame), level, *population])
    data = cache.get("population", key)
    if data is not None:
        image = _unpacked(data)
        if image is not None:
            return image
    image = backend.compile(population, frame, level)
    cache.put("population", key, _packed(image))
    return image


def _packed(image: Image) -> bytes:
    import json

    head = json.dumps([image.format, image.arch, image.places]).encode()
    return len(head).to_bytes(8, "little") + head + image.data


def _unpacked(data: bytes) -> Image | None:
    import json

    size = int.from_bytes(data[:8], "little")
    try:
        form, arch, places = json.loads(data[8 : 8 + size])
        return Image(form, data[8 + size :], tuple((str(k), int(s)) for k, s in places), arch)
    except (ValueError, TypeError):
        return None
