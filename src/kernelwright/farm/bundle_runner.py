"""A batch of individuals, compiled in bundles and run: what a farm's workers are made of.

runner = BundleRunner(Host(), frame, translate, executor)
runner.compile(population)       # Built or Raised of each
runner.run(population)           # Ran(result, compile_s, run_s) of each
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from kernelwright.errors import CompileError
from kernelwright.farm.backends.backend import Backend, Image, Level
from kernelwright.farm.backends.bundle import Frame
from kernelwright.farm.compile_population import Built, build
from kernelwright.farm.lost_items import Raised
from kernelwright.lazy_dataclasses import dataclass

T = TypeVar("T")
Result = TypeVar("Result", covariant=True)


class Executor(Protocol[Result]):
    """Runs images of one problem."""

    def run(self, image: Image) -> Sequence[Result | None]:
        """What each individual of the image gives, in their order; None for one that another has stopped: it is compiled and
        run again without that one. At least one is not None."""

    def close(self) -> None:
        """Releases the device and what is loaded there."""


@dataclass(frozen=True)
class Ran(Generic[T]):
    """What became of an individual, and its share of the seconds that its bundle took."""

    result: T | Raised
    """``Raised`` for one that does not compile."""
    compile_s: float = 0.0
    run_s: float = 0.0


class BundleRunner(Generic[T]):
    """``translate``: an individual as its grammar derives it, in the back end's language; raises ``CompileError``. ``executor``
    is None where images are compiled only. Close it at the end."""

    def __init__(
        self,
        backend: Backend,
        frame: Frame,
        translate: Callable[[str], str],
        executor: Executor[T] | None = None,
        level: Level = "quick",
    ) -> None:
        self._backend = backend
        self._frame = frame
        self._translate = translate
        self._executor = executor
        self._level: Level = level

    def compile(self, population: Sequence[str]) -> list[Built | Raised]:
        """In the order of the population."""
        found: dict[int, Built | Raised] = {}
        bodies: dict[int, str] = {}
        for index, text in enumerate(population):
            try:
                bodies[index] = self._translate(text)
            except CompileError as error:
                found[index] = Raised(error)
        if bodies:
            built = build(self._backend, self._frame, list(bodies.values()), self._level)
            found.update(zip(bodies, built, strict=True))
        return [found[index] for index in range(len(population))]

    def run(self, population: Sequence[str]) -> list[Ran[T]]:
        """In the order of the population."""
        found: dict[int, Ran[T]] = {}
        compile_s = dict.fromkeys(range(len(population)), 0.0)
        while part := [index for index in compile_s if index not in found]:
            begin = time.perf_counter()
            built = dict(zip(part, self.compile([population[index] for index in part]), strict=True))
            share = (time.perf_counter() - begin) / len(part)
            for index, each in built.items():
                if isinstance(each, Raised):
                    compile_s[index] += share
                    found[index] = Ran(each, compile_s[index])
                elif each.image.format != "text":
                    compile_s[index] += share
            for index, result, run_s in self._executed(built):
                found[index] = Ran(result, compile_s[index], run_s)
        return [found[index] for index in range(len(population))]

    def _executed(self, built: dict[int, Built | Raised]) -> Iterator[tuple[int, T, float]]:
        assert self._executor is not None
        members: dict[int, dict[int, int]] = {}
        images: dict[int, Image] = {}
        for index, each in built.items():
            if isinstance(each, Built):
                images[id(each.image)] = each.image
                members.setdefault(id(each.image), {})[each.individual] = index
        for key, image in images.items():
            begin = time.perf_counter()
            results = self._executor.run(image)
            share = (time.perf_counter() - begin) / len(results)
            for individual, result in enumerate(results):
                if result is not None:
                    yield members[key][individual], result, share

    def close(self) -> None:
        """Closes the executor, if there is one."""
        if self._executor is not None:
            self._executor.close()
