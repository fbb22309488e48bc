"""What is explored: a computation of the library or of a person's file with its sizes, and the GPU that kernels are for.

Sizes may be given at launch: then those of the subject are what kernels are tuned at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import KernelwrightError, Misuse, check_kind, reason
from kernelwright.exploration.own_file import OwnFile
from kernelwright.exploration.python_file import file_and_name, placed
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation import Backbone, Computation
from kernelwright.space.computation.at_launch import difference, other_sizes
from kernelwright.space.computation.family import Family
from kernelwright.space.computation.sizes import LaunchSize, size_at_launch
from kernelwright.space.library import EXAMPLES, example
from kernelwright.target import Gpu

LARGEST_BYTES = 4 << 30
"""Of all arrays together: they are held twice, and an oracle computes in double precision."""


@dataclass(frozen=True)
class Subject:
    """``sizes``: by name, all of them. ``device``: a GPU of the table. ``own``: the file that defines it; None: the library does.
    ``dynamic``: sizes that kernels are given at launch."""

    computation: str
    sizes: tuple[tuple[str, int], ...]
    device: str
    own: OwnFile | None = None
    dynamic: tuple[LaunchSize, ...] = ()

    @classmethod
    def of(
        cls,
        computation: str | Path | Family,
        sizes: Sequence[int] | Mapping[str, int],
        device: str,
        dynamic: Sequence[str] = (),
    ) -> Subject:
        """``computation``: a name of the library, a Python file (with ``:NAME`` where it defines several), or what a file defines.
        ``sizes``: in the order of the computation, or by name; those that are not given are as usual. ``dynamic``: names of sizes that
        are given at launch, ``n:4`` where they are multiples of 4. Raises ``Misuse``."""
        check_kind(device, str, "the name of a device", "as device='h200'")
        dynamic = dynamic.split() if isinstance(dynamic, str) else dynamic
        check_kind(dynamic, Sequence, "what is given as dynamic", "give names of sizes: dynamic=['m', 'n']")
        entry, own = _found(computation)
        name, names = entry.name, list(entry.sizes)
        check_kind(
            sizes,
            (Sequence, Mapping),
            f"what is given for the sizes of {name}",
            f"give them in order, {', '.join(names)}, or by name",
        )
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
                f"the device of a subject is a GPU of the table, and {device} is none",
                hint="kw.explore and kw explore take it: they search with its model and measure the best there",
            )
        chosen = {**entry.sizes, **sizes}
        missing = [each for each in names if chosen[each] is None]
        if missing:
            raise Misuse(f"{name} is given no {missing[0]}", hint=f"its sizes, in order: {', '.join(names)}")
        fixed = cls(name, tuple((each, chosen[each] or 0) for each in names), virtual_gpu(device).name, own)
        fixed.check()
        if not dynamic:
            return fixed
        found = replace(fixed, dynamic=_launch_sizes(name, dict(fixed.sizes), dynamic))
        found.check_launches()
        return found

    def check(self) -> None:
        """Raises ``Misuse`` for sizes that make no computation, or one that this machine cannot hold."""
        arrays = self.declared.arrays.values()
        if sum(4 * each.elements for each in arrays) > LARGEST_BYTES:
            raise Misuse(f"the arrays of {self} take more than {LARGEST_BYTES >> 30} GiB", hint="give smaller sizes")

    def check_launches(self) -> None:
        """Raises ``Misuse`` for a computation that depends on a size in a way that no formula says."""
        names = ", ".join(size.name for size in self.dynamic)
        try:
            declared = self.declared
        except KernelwrightError as error:
            raise Misuse(
                f"{names} of {self.computation} cannot be given at launch: {error.message}",
                hint=f"{self.dynamic[0].name}:64 would say that it is a multiple of 64; or explore this size by itself",
                place=error.place,
            ) from error
        unused = [size.name for size in self.dynamic if size not in declared.launch_sizes]
        if unused:
            raise Misuse(
                f"{unused[0]} of {self.computation} cannot be given at launch: no loop and no array depends on it",
                hint="leave it out",
            )
        for sizes in other_sizes(dict(self.sizes), self.dynamic):
            where = ", ".join(f"{size} = {sizes[size]}" for size in dict(self.sizes))
            try:
                other = self.at(sizes).declared
            except KernelwrightError as error:
                raise Misuse(
                    f"{names} of {self.computation} cannot be given at launch: {where} is refused, {error.message}",
                    hint=f"{self.dynamic[0].name}:64 would say that it is a multiple of 64; or explore this size by itself",
                ) from error
            if what := difference(declared, other, sizes):
                raise Misuse(
                    f"{names} of {self.computation} cannot be given at launch: {what} is another at {where},"
                    " and no sum of products of sizes says which",
                    hint="write it as one, give numbers as scalars, or explore this size by itself",
                )

    def at(self, sizes: Mapping[str, int]) -> Subject:
        """The same computation with these sizes, all known."""
        return replace(self, sizes=tuple((name, sizes[name]) for name, _ in self.sizes), dynamic=())

    @cached_property
    def family(self) -> Family:
        """What declares the computation for any sizes: of the person's file, or of the library."""
        return self.own.family(self.computation) if self.own else example(self.computation)

    @cached_property
    def declared(self) -> Computation:
        """The computation at these sizes. Raises ``Misuse``, with the line of a person's file, for what cannot be declared."""
        sizes = dict(self.sizes)
        sizes |= {size.name: size_at_launch(size.name, sizes[size.name], size.multiple) for size in self.dynamic}
        if self.own is None:
            return self.family.computation(**sizes)
        with placed(self.own.path):
            return self.family.computation(**sizes)

    @cached_property
    def backbone(self) -> Backbone:
        """Loops, dims and instructions that all its kernels have in common."""
        return self.declared.backbone()

    @cached_property
    def work(self) -> int:
        """Iterations of all loops together: what the largest statement does."""
        return math.prod(loop.extent for loop in self.declared.loops.values())

    @property
    def gpu(self) -> Gpu:
        """The figures of the GPU that kernels are for. Raises ``Misuse`` for a device that is not known."""
        return virtual_gpu(self.device)

    def __str__(self) -> str:
        launched = f" with {' '.join(map(str, self.dynamic))} at launch" if self.dynamic else ""
        return f"{self.computation} {' '.join(str(size) for _, size in self.sizes)}{launched}"

    def __reduce__(self) -> tuple[type[Subject], tuple[object, ...]]:
        # Declarations hold functions, which do not travel to workers; they are made again from their names.
        return Subject, (self.computation, self.sizes, self.device, self.own, self.dynamic)

    def kept_in(self, folder: Path) -> Subject:
        """The same, with a copy in a run's folder of the file that defines it."""
        return replace(self, own=self.own.copied(folder)) if self.own else self

    def as_json(self) -> dict[str, Any]:
        """``file``: the copy beside what is written."""
        about: dict[str, Any] = {"computation": self.computation, "sizes": dict(self.sizes), "device": self.device}
        if self.dynamic:
            about["dynamic"] = [str(size) for size in self.dynamic]
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
            dynamic = [str(each) for each in value.get("dynamic", ())]
            if "file" not in value:
                return cls.of(name, sizes, device, dynamic)
            path = folder.resolve() / Path(str(value["file"])).name
            own = OwnFile(str(path), str(value["digest"]), str(value["original"]))
            numbers = {str(each): int(size) for each, size in sizes.items()}
            return cls(
                name, tuple(numbers.items()), device, own, _launch_sizes(name, numbers, dynamic) if dynamic else ()
            )
        except (KeyError, TypeError, ValueError) as error:
            raise Misuse(f"this is no subject of an exploration ({reason(error)})", hint="start a new run") from error


def _launch_sizes(name: str, sizes: Mapping[str, int], given: Sequence[str]) -> tuple[LaunchSize, ...]:
    """``given``: ``n`` or ``n:4``. In the order of the sizes. Raises ``Misuse``."""
    found: dict[str, LaunchSize] = {}
    for each in given:
        size, _, multiple = each.partition(":")
        if size not in sizes:
            raise Misuse(f"{name} has no size {size} that could be given at launch", hint=f"it has {', '.join(sizes)}")
        if multiple and not (multiple.isdecimal() and int(multiple) > 0):
            raise Misuse(f"{each} says no multiple", hint=f"{size}:64 for multiples of 64")
        made = LaunchSize(size, int(multiple or 1))
        if sizes[size] % made.multiple:
            raise Misuse(
                f"{size} is given at launch as a multiple of {made.multiple}, and {name} is tuned at {sizes[size]}",
                hint=f"tune it at a multiple of {made.multiple}",
            )
        found[size] = made
    return tuple(found[size] for size in sizes if size in found)


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
