"""The kernel that a cache file belongs to, in a few lines of TOML: its source, and how a variant's parameters launch it.

    source = "convolution.cu"                        # beside this file
    kernel = "convolution_kernel"
    grid = ["ceil(ceil(4096, block_size_x), tile_size_x)", "ceil(ceil(4096, block_size_y), tile_size_y)"]
    block = ["block_size_x", "block_size_y"]
    where = "use_shmem == 1"                         # the variants this source has
    arguments = [{ bytes = "4096 * 4096 * 4" }, { bytes = "4110 * 4110 * 4", fill = "random" }, { int = 20 }]

    constants = { d_filter = "random" }              # what __constant__ and __device__ variables hold; zeros where nothing is said

Every parameter becomes a definition (``-Dblock_size_x=16``); one called ``loop_unroll_factor…`` that is 0 leaves the compiler to unroll
as it likes: Kernel Tuner takes its ``#pragma unroll`` away. Arrays and variables hold zeros, floats between 0 and 1, or a file's numbers
(``fill = "points.npy"``, ``fills.py``).
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelwright.device.model_check.expressions import Expression
from kernelwright.device.model_check.fills import ZEROS, Fill, fill_of
from kernelwright.device.model_check.tuner_cache import TunerCache
from kernelwright.errors import Misuse, reason
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

KNOWN = ("source", "kernel", "grid", "block", "where", "shared_bytes", "arguments", "define", "constants")
UNROLLING = "loop_unroll_factor"
"""How the parameters begin that Kernel Tuner takes for factors of ``#pragma unroll``."""
KINDS = ("bytes", "int", "float")


@dataclass(frozen=True)
class Argument:
    """``kind``: an array of so many ``bytes``, or a number."""

    kind: str
    value: Expression
    fill: Fill = ZEROS


@dataclass(frozen=True)
class KernelDescription:
    path: Path
    source: Path
    kernel: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    where: Expression | None
    shared_bytes: Expression
    arguments: tuple[Argument, ...]
    define: Mapping[str, str]
    constants: Mapping[str, Fill]
    """What variables of the module hold, by name."""

    def expressions(self) -> tuple[Expression, ...]:
        """All that is computed from a variant's parameters: grid, block, condition, shared memory, arguments."""
        where = (self.where,) if self.where else ()
        return (*self.grid, *self.block, *where, self.shared_bytes, *(a.value for a in self.arguments))

    def definitions(self, parameters: Mapping[str, Any]) -> list[str]:
        """Macros for the compiler as ``NAME=VALUE``, those of the description first; a parameter of the same name replaces one."""
        return [f"{name}={value}" for name, value in {**self.define, **parameters}.items()]

    @contextmanager
    def source_of(self, parameters: Mapping[str, Any]) -> Iterator[Path]:
        """The file to compile for a variant: the source, or a copy that is there as long as the context is. Raises ``Misuse`` for a source
        that cannot be read."""
        try:
            text = self.source.read_text(errors="surrogateescape")
        except OSError as error:
            raise Misuse(
                f"{self.source} cannot be read: {error.strerror}", hint="'source' names the kernel's file"
            ) from None
        tuned = as_tuned(text, parameters)
        if tuned == text:
            yield self.source
            return
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            copy = Path(folder) / self.source.name
            copy.write_text(tuned, errors="surrogateescape")
            yield copy

    def extent(self, sizes: tuple[Expression, ...], parameters: Mapping[str, Any]) -> Triple:
        """One to three sizes as three whole numbers for these parameters, 1 for those that are missing. Raises ``Misuse``."""
        x, y, z = (*(s.count(parameters) for s in sizes), 1, 1)[:3]
        return x, y, z

    def agrees_with(self, cache: TunerCache) -> None:
        """Raises ``Misuse`` for a cache of another kernel: by its name, or by parameters that nothing here knows."""
        if cache.kernel and cache.kernel != self.kernel:
            raise Misuse(
                f"{cache.path} has times of {cache.kernel!r}, and {self.path} describes {self.kernel!r}",
                hint="take the description of that kernel",
            )
        text = self.source.read_text(errors="replace")
        mentioned = {n for e in self.expressions() for n in e.names}
        unknown = [p for p in cache.varied() if p not in mentioned and not re.search(rf"\b{re.escape(p)}\b", text)]
        if unknown:
            raise Misuse(
                f"{cache.path} varies {', '.join(unknown)}, which neither {self.source} nor {self.path} mentions",
                hint="is it the cache of another kernel? 'where' can choose the variants this source has",
            )
        for each in self.expressions():
            each.value(cache.variants[0].parameters)


def as_tuned(source: str, parameters: Mapping[str, Any]) -> str:
    """A source as Kernel Tuner compiles it with these parameters: without the unrolling pragmas whose factor is 0, which say nothing
    there and would forbid clang to unroll. Lines keep their numbers."""
    for name, value in parameters.items():
        if name.startswith(UNROLLING) and value == 0:
            source = re.sub(
                rf"^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]+\(?{re.escape(name)}\b.*$", "", source, flags=re.MULTILINE
            )
    return source


def read_description(path: Path) -> KernelDescription:
    """Raises ``Misuse`` for a file that is no description, with its line or the key."""
    try:
        found = tomllib.loads(path.read_text())
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror or error}", hint="--kernel wants a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misuse(f"{path}: {reason(error)}", hint="--kernel wants a TOML file that describes the kernel") from None
    for key in found:
        if key not in KNOWN:
            raise Misuse(f"{path}: unknown key {key!r}", hint=f"there are {', '.join(KNOWN)}")
    missing = [key for key in ("source", "kernel", "grid", "block") if key not in found]
    if missing:
        raise Misuse(f"{path} lacks {', '.join(missing)}", hint="kw model check --help shows a description")
    source = path.parent / str(found["source"])
    if not source.is_file():
        raise Misuse(f"{path}: there is no file {source}", hint="'source' is relative to the description")
    where = Expression(found["where"], f"{path}: where") if "where" in found else None
    return KernelDescription(
        path,
        source,
        str(found["kernel"]),
        _sizes(path, "grid", found["grid"]),
        _sizes(path, "block", found["block"]),
        where,
        Expression(found.get("shared_bytes", 0), f"{path}: shared_bytes"),
        tuple(_argument(path, i, a) for i, a in enumerate(found.get("arguments", []))),
        {str(k): str(v) for k, v in found.get("define", {}).items()},
        _constants(path, found.get("constants", {})),
    )


def _constants(path: Path, found: Any) -> dict[str, Fill]:
    if not isinstance(found, dict):
        raise Misuse(f"{path}: constants is {found!r}", hint='as constants = { d_filter = "random" }')
    return {name: fill_of(given, path.parent, f"{path}: constants: {name}") for name, given in found.items()}


def _sizes(path: Path, key: str, found: Any) -> tuple[Expression, ...]:
    sizes = found if isinstance(found, list) else [found]
    if not 1 <= len(sizes) <= 3 or not all(isinstance(s, str | int) for s in sizes):
        raise Misuse(f"{path}: {key} is {found!r}", hint="give one to three expressions")
    return tuple(Expression(s, f"{path}: {key}[{i}]") for i, s in enumerate(sizes))


def _argument(path: Path, index: int, found: Any) -> Argument:
    place = f"{path}: arguments[{index}]"
    kinds = [k for k in KINDS if k in found] if isinstance(found, dict) else []
    if len(kinds) != 1 or set(found) - {*KINDS, "fill"} or ("fill" in found and kinds != ["bytes"]):
        raise Misuse(
            f"{place} is {found!r}", hint='as { bytes = "4 * 1024", fill = "random" }, { int = 3 } or { float = 0.5 }'
        )
    return Argument(
        kinds[0], Expression(found[kinds[0]], place), fill_of(found.get("fill", "zeros"), path.parent, place)
    )
