"""What is explored: a computation of the library or of a person's file with its sizes, and the GPU that kernels are for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import Misuse
from kernelwright.exploration.own_file import OwnFile
from kernelwright.exploration.python_file import file_and_name, placed
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation import Backbone, Computation
from kernelwright.space.computation.family import Family
from kernelwright.space.library import EXAMPLES, example
from kernelwright.target import Gpu

LARGEST_BYTES = 4 << 30
"""Of all arrays together: they are held twice, and an oracle computes in double precision."""


@dataclass(frozen=True)
class Subject:
    """``sizes``: by name, all of them. ``device``: a GPU of the table. ``own``: the file that defines it; None: the library does."""

    computation: str
    sizes: tuple[tuple[str, int], ...]
    device: str
    own: OwnFile | None = None

    @classmethod
    def of(cls, computation: str | Path | Family, sizes: Sequence[int] | Mapping[str, int], device: str) -> Subject:
        """``computation``: a name of the library, a Python file (with ``:NAME`` where it defines several), or what a file defines.
        ``sizes``: in the order of the computation, or by name; those that are not given are as usual. Raises ``Misuse``."""
        entry, own = _found(computation)
        name, names = entry.name, list(entry.sizes)
        if not isinstance(sizes, Mapping):
            if len(sizes) > len(names):
                raise Misuse(
                    f"{name} has {len(names)} sizes, and {len(sizes)} are given",
                    hint=f"{', '.join(names) or 'give none'}",
                )
            sizes = dict(zip(names, sizes, strict=False))
        unknown = sorted(set(sizes) - set(names))
        if unknown:
            raise Misuse(f"{name} has no size {unknown[0]}", hint=f"it has {', '.join(names)}")
        if device.startswith("cuda"):
            raise Misuse(
                "exploring on a real GPU is not built: kernels are timed by the model of a virtual one",
                hint="--device h200; then time the kernel of the run folder on your GPU",
            )
        chosen = {**entry.sizes, **sizes}
        missing = [each for each in names if chosen[each] is None]
        if missing:
            raise Misuse(f"{name} is given no {missing[0]}", hint=f"its sizes, in order: {', '.join(names)}")
        found = cls(name, tuple((each, chosen[each] or 0) for each in names), virtual_gpu(device).name, own)
        found.check()
        return found

    def check(self) -> None:
        """Raises ``Misuse`` for sizes that make no computation, or one that this machine cannot hold."""
        arrays = self.declared.arrays.values()
        if sum(4 * each.elements for each in arrays) > LARGEST_BYTES:
            raise Misuse(f"the arrays of {self} take more than {LARGEST_BYTES >> 30} GiB", hint="give smaller sizes")

    @cached_property
    def family(self) -> Family:
        return self.own.family(self.computation) if self.own else example(self.computation)

    @cached_property
    def declared(self) -> Computation:
        if self.own is None:
            return self.family.computation(**dict(self.sizes))
        with placed(self.own.path):
            return self.family.computation(**dict(self.sizes))

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
        return Subject, (self.computation, self.sizes, self.device, self.own)

    def kept_in(self, folder: Path) -> Subject:
        """The same, with a copy in a run's folder of the file that defines it."""
        return replace(self, own=self.own.copied(folder)) if self.own else self

    def as_json(self) -> dict[str, Any]:
        """``file``: the copy beside what is written."""
        about: dict[str, Any] = {"computation": self.computation, "sizes": dict(self.sizes), "device": self.device}
        if self.own is None:
            return about
        own = self.own
        return {**about, "file": Path(own.path).name, "digest": own.digest, "original": own.original}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], folder: Path) -> Subject:
        """What ``as_json`` wrote into a file of ``folder``. Raises ``Misuse`` for anything else. A person's file is not read yet: to
        show a run does not take it."""
        try:
            name, sizes, device = str(value["computation"]), dict(value["sizes"]), str(value["device"])
            if "file" not in value:
                return cls.of(name, sizes, device)
            path = folder.resolve() / Path(str(value["file"])).name
            own = OwnFile(str(path), str(value["digest"]), str(value["original"]))
            return cls(name, tuple((str(each), int(size)) for each, size in sizes.items()), device, own)
        except (KeyError, TypeError, ValueError) as error:
            raise Misuse(f"this is no subject of an exploration ({error})", hint="start a new run") from error


def _found(computation: str | Path | Family) -> tuple[Family, OwnFile | None]:
    if isinstance(computation, str | Path):
        written = file_and_name(str(computation))
        if written is None:
            return example(str(computation)), None
        path, name = Path(written[0]), written[1]
    elif not isinstance(computation, Family):
        raise Misuse(
            f"a {type(computation).__name__} is no computation with sizes",
            hint="give a name of the library, a Python file, or a function below @kw.computation",
        )
    else:
        path, name = Path(computation.file), computation.name
        if not path.is_file():
            raise Misuse(
                f"{name} is defined in {computation.file or 'no file'}, which workers and later runs cannot read",
                hint="write it into a file: kw.explore('my_computation.py', sizes)",
            )
    own = OwnFile.at(path)
    found = own.family(name)
    if found.name in EXAMPLES:
        raise Misuse(f"the library has a {found.name} already", hint=f"give that of {path} another name")
    return found, own
