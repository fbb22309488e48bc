"""What is explored: a computation of the library with its sizes, and the GPU that kernels are for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation import Backbone, Computation
from kernelwright.space.library import Example, example
from kernelwright.target import Gpu

LARGEST_BYTES = 4 << 30
"""Of all arrays together: they are held twice, and an oracle computes in double precision."""


@dataclass(frozen=True)
class Subject:
    """``sizes``: by name, all of them. ``device``: a GPU of the table."""

    computation: str
    sizes: tuple[tuple[str, int], ...]
    device: str

    @classmethod
    def of(cls, name: str, sizes: Sequence[int] | Mapping[str, int], device: str) -> Subject:
        """``sizes``: in the order of the computation, or by name; those that are not given are as usual. Raises ``Misuse``."""
        entry = example(name)
        names = list(entry.sizes)
        if not isinstance(sizes, Mapping):
            if len(sizes) > len(names):
                raise Misuse(f"{name} has {len(names)} sizes, and {len(sizes)} are given", hint=f"{', '.join(names)}")
            sizes = dict(zip(names, sizes, strict=False))
        unknown = sorted(set(sizes) - set(names))
        if unknown:
            raise Misuse(f"{name} has no size {unknown[0]}", hint=f"it has {', '.join(names)}")
        if device.startswith("cuda"):
            raise Misuse(
                "exploring on a real GPU is not built: kernels are timed by the model of a virtual one",
                hint="--device h200; then time the kernel of the run folder on your GPU",
            )
        found = cls(name, tuple((each, sizes.get(each, entry.sizes[each])) for each in names), virtual_gpu(device).name)
        found.check()
        return found

    def check(self) -> None:
        """Raises ``Misuse`` for sizes that make no computation, or one that this machine cannot hold."""
        arrays = self.declared.arrays.values()
        if sum(4 * each.elements for each in arrays) > LARGEST_BYTES:
            raise Misuse(f"the arrays of {self} take more than {LARGEST_BYTES >> 30} GiB", hint="give smaller sizes")

    @cached_property
    def example(self) -> Example:
        return example(self.computation)

    @cached_property
    def declared(self) -> Computation:
        return self.example.computation(**dict(self.sizes))

    @cached_property
    def backbone(self) -> Backbone:
        return self.declared.backbone()

    @cached_property
    def work(self) -> int:
        """Iterations of all loops together: what the largest statement does."""
        return math.prod(loop.extent for loop in self.declared.loops.values())

    @property
    def gpu(self) -> Gpu:
        return virtual_gpu(self.device)

    def __str__(self) -> str:
        return f"{self.computation} {' '.join(str(size) for _, size in self.sizes)}"

    def __reduce__(self) -> tuple[type[Subject], tuple[object, ...]]:
        # Declarations hold functions, which do not travel to workers; they are made again from their names.
        return Subject, (self.computation, self.sizes, self.device)

    def as_json(self) -> dict[str, Any]:
        return {"computation": self.computation, "sizes": dict(self.sizes), "device": self.device}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Subject:
        """What ``as_json`` wrote. Raises ``Misuse`` for anything else."""
        try:
            name, sizes, device = str(value["computation"]), dict(value["sizes"]), str(value["device"])
        except (KeyError, TypeError, ValueError) as error:
            raise Misuse(f"this is no subject of an exploration ({error})", hint="start a new run") from error
        return cls.of(name, sizes, device)
