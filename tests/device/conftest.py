"""Fixtures for device tests: CUDA source to module, an arena, launches on NumPy arrays."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.reference import ReferenceResult, run_reference
from kernelwright.ir import Module, parse_module
from kernelwright.pipeline import CompileOptions, Unit

Array = npt.NDArray[Any]


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as arena:
        yield arena


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Module]:
    """CUDA source text to the optimised module, compiled once per text."""
    folder: Path = tmp_path_factory.mktemp("cuda")

    @cache
    def text(source: str) -> str:
        path = folder / f"kernel{abs(hash(source))}.cu"
        path.write_text(source)
        return Unit(path, CompileOptions(), None).optimised

    return lambda source: parse_module(text(source))


def packed(*arguments: Any) -> bytes:
    """Arguments as a launch packs them: NumPy scalars and bytes by their size, Python ints as ``int``, floats as ``float``."""
    buffer = b""
    for argument in arguments:
        if isinstance(argument, bytes):
            raw, align = argument, 8
        else:
            scalar = argument if isinstance(argument, np.generic) else _scalar(argument)
            raw, align = scalar.tobytes(), scalar.dtype.itemsize
        buffer = buffer.ljust((len(buffer) + align - 1) & -align, b"\0") + raw
    return buffer


def _scalar(value: float | int) -> np.generic:
    return np.float32(value) if isinstance(value, float) else np.int32(value)


class Launcher:
    """Runs kernels on NumPy arrays: each array becomes a buffer, and is updated from it afterwards."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def __call__(
        self, module: Module, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...],
        *arguments: Any, **options: Any,
    ) -> ReferenceResult:  # fmt: skip
        arrays: list[tuple[Array, Any]] = []
        values: list[Any] = []
        for n, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                buffer = self.arena.allocate(argument.nbytes, f"argument {n}")
                self.arena.view(buffer)[:] = argument.reshape(-1).view(np.uint8)
                arrays.append((argument, buffer))
                values.append(np.uint64(buffer.address))
            else:
                values.append(argument)
        result = run_reference(
            module, kernel_named(module, kernel), triple(grid), triple(block), packed(*values), self.arena, **options
        )
        for array, buffer in arrays:
            array.reshape(-1).view(np.uint8)[:] = self.arena.view(buffer)
        return result


@pytest.fixture
def launch(arena: Arena) -> Launcher:
    return Launcher(arena)


def triple(size: int | tuple[int, ...]) -> tuple[int, int, int]:
    given = (size,) if isinstance(size, int) else size
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def kernel_named(module: Module, name: str) -> str:
    """The one kernel whose mangled name contains ``name``."""
    exact = [k.name for k in module.kernels if k.name == name]
    (found,) = exact or [k.name for k in module.kernels if f"{len(name)}{name}" in k.name]
    return found


def pointer(address: int) -> bytes:
    return struct.pack("<Q", address)
