"""Variants with a known truth: unsafe wins, each with its right label, and sound ones.

``unsafe.cu`` and ``sound.cu`` hold the kernels; compiled with ``-DVARIANT`` they are the variants. All variants of
``unsafe.cu`` are right on the training cases below.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.evaluate.judging.case_runner import Argument, Modules, by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove.labels import Label

HERE = Path(__file__).parent
Random = np.random.Generator
Inputs = Callable[[Random], dict[str, Argument]]


@dataclass(frozen=True)
class Planted:
    """A kernel, the label its variant is to get, and a maker of training data. ``trap`` says what is wrong with it."""

    kernel: str
    label: Label
    grid: tuple[int, ...]
    block: tuple[int, ...]
    inputs: Inputs
    trap: str = ""

    @property
    def source(self) -> Path:
        """The file it is in: that of the sound kernels or of the unsafe ones."""
        return HERE / ("sound.cu" if self.label == "clean" else "unsafe.cu")

    def case(self, seed: int) -> Case:
        """Training data; the same for the same seed."""
        arguments = self.inputs(np.random.default_rng([seed, *self.kernel.encode()]))
        return Case(self.grid, self.block, arguments, name=f"seed {seed}")

    def workload(self, seed: int) -> Workload:
        """Two training cases, and a generator of further ones that share everything but the values."""
        cases = (self.case(2 * seed), self.case(2 * seed + 1))
        return Workload(self.source, self.kernel, cases, generator=lambda number: self.case(1_000_000 + number))

    @property
    def original(self) -> Modules:
        """The modules of its file without ``-DVARIANT``, by kernel."""
        return _modules(self.source, False)

    @property
    def variant(self) -> Modules:
        """The changed kernel alone."""
        return {self.kernel: _modules(self.source, True)[self.kernel]}


@cache
def _modules(source: Path, changed: bool) -> Modules:
    return by_kernel(compile_program(source, define=("VARIANT",) if changed else ()).module)


def _floats(random: Random, n: int, low: float = 0.5, high: float = 2.0) -> Any:
    return random.uniform(low, high, n).astype(np.float32)


def _ints(random: Random, n: int, low: int = 0, high: int = 1000) -> Any:
    return random.integers(low, high, n).astype(np.int32)


def _zeros(n: int, dtype: Any = np.float32) -> Any:
    return np.zeros(n, dtype)


def _symmetric(random: Random, n: int) -> Any:
    half = random.integers(0, 8, (n, n))
    return (half + half.T).astype(np.float32).reshape(-1)


UNSAFE: tuple[Planted, ...] = (
    Planted("earlier_warp", "schedule-dependent", (2,), (128,),
            lambda r: {"in": _floats(r, 256), "out": _zeros(256)}, "a barrier between warps is gone"),
    Planted("tile_reused", "schedule-dependent", (2,), (128,),
            lambda r: {"in": _floats(r, 768), "out": _zeros(256), "tiles": 3}, "the barrier after a tile's last use is gone"),
    Planted("largest", "schedule-dependent", (2,), (64,),
            lambda r: {"in": _ints(r, 128), "best": _zeros(1, np.int32)}, "an atomic is gone"),
    Planted("halo_written", "schedule-dependent", (4,), (64,),
            lambda r: {"in": _floats(r, 256), "out": _zeros(256), "n": 256}, "blocks write each other's elements"),
    Planted("never_set", "schedule-dependent", (2,), (64,),
            lambda r: {"in": _floats(r, 384), "out": _zeros(128), "per": 3}, "shared memory is not set"),
    Planted("warp_sum", "lock-step only", (4,), (32,),
            lambda r: {"in": _floats(r, 128), "out": _zeros(4)}, "a __syncwarp() is gone"),
    Planted("one_warp", "lock-step only", (4,), (32,),
            lambda r: {"in": _ints(r, 128), "out": _zeros(128, np.int32)}, "a barrier of one warp is gone"),
    Planted("value_is_key", "data-specific", (2,), (64,),
            lambda r: {"keys": _ints(r, 128, 0, 100), "table": np.arange(100, dtype=np.int32),
                       "out": _zeros(128, np.int32), "n": 128}, "the value is the key"),
    Planted("dense_keys", "data-specific", (2,), (64,),
            lambda r: {"keys": r.permutation(128).astype(np.int32), "count": _zeros(128, np.int32), "n": 128},
            "no key comes twice"),
    Planted("square", "data-specific", (2, 2), (8, 8),
            lambda r: {"in": _floats(r, 256), "out": _zeros(256), "width": 16, "height": 16}, "width is height"),
    Planted("whole_blocks", "data-specific", (2,), (64,),
            lambda r: {"in": _floats(r, 128), "out": _zeros(128), "n": 128}, "whole blocks"),
    Planted("sorted", "data-specific", (1,), (32,),
            lambda r: {"in": np.sort(_ints(r, 256).reshape(32, 8)).reshape(-1), "out": _zeros(32, np.int32), "n": 8},
            "sorted values"),
    Planted("positive", "data-specific", (2,), (64,),
            lambda r: {"in": _floats(r, 128), "out": _zeros(128), "n": 128}, "no negative value"),
    Planted("small", "data-specific", (2,), (64,),
            lambda r: {"in": _ints(r, 128), "out": _zeros(128, np.int32), "n": 128}, "small values"),
    Planted("symmetric", "data-specific", (1,), (32,),
            lambda r: {"a": _symmetric(r, 16), "x": _ints(r, 16, 0, 9).astype(np.float32), "y": _zeros(16), "n": 16},
            "a symmetric matrix"),
    Planted("padded", "data-specific", (2,), (64,),
            lambda r: {"in": np.append(_floats(r, 127), np.float32(0)), "out": _zeros(128), "n": 127},
            "a zero behind the last element"),
    Planted("four_each", "data-specific", (2,), (32,),
            lambda r: {"lengths": np.full(64, 4, np.int32), "lists": _ints(r, 512), "out": _zeros(64, np.int32)},
            "lists of one length"),
    Planted("always_taken", "data-specific", (2,), (64,),
            lambda r: {"flags": _ints(r, 128, 1, 5), "in": _floats(r, 128), "out": _zeros(128), "n": 128},
            "a branch that was always taken"),
)  # fmt: skip

SOUND: tuple[Planted, ...] = (
    Planted("barrier_twice", "clean", (2,), (128,), lambda r: {"in": _floats(r, 256), "out": _zeros(256)}),
    Planted("barrier_of_nothing", "clean", (2,), (64,), lambda r: {"in": _floats(r, 128), "out": _zeros(128)}),
    Planted("dead_store", "clean", (2,), (64,), lambda r: {"in": _floats(r, 120), "out": _zeros(120), "n": 120}),
    Planted("repeated_load", "clean", (2,), (64,),
            lambda r: {"in": _floats(r, 120), "out": _zeros(120), "twice": _zeros(120), "n": 120}),
    Planted("clamp_never_binds", "clean", (2,), (64,), lambda r: {"in": _ints(r, 128), "out": _zeros(128, np.int32)}),
    Planted("hoisted", "clean", (2,), (32,),
            lambda r: {"in": _floats(r, 192), "scale": _floats(r, 1), "out": _zeros(192), "rounds": 3}),
    Planted("power_of_two", "clean", (2,), (64,),
            lambda r: {"in": _floats(r, 128), "out": _zeros(128), "by": 1.5, "n": 128}),
    Planted("same_product", "clean", (2,), (64,),
            lambda r: {"a": _floats(r, 128), "b": _floats(r, 128), "sum": _zeros(128), "difference": _zeros(128)}),
    Planted("own_address", "clean", (2,), (64,), lambda r: {"in": _ints(r, 128), "out": _ints(r, 128)}),
    Planted("only_the_warp", "clean", (2,), (128,), lambda r: {"in": _ints(r, 256), "out": _zeros(256, np.int32)}),
    Planted("stored_once", "clean", (2,), (32,),
            lambda r: {"in": _ints(r, 256), "out": _zeros(64, np.int32), "rounds": 4}),
    Planted("in_a_register", "clean", (2,), (64,),
            lambda r: {"in": _floats(r, 128), "out": _zeros(128), "rounds": 3}),
    Planted("no_multiplication", "clean", (2,), (32,),
            lambda r: {"in": _ints(r, 256), "out": _zeros(64, np.int32), "rounds": 4}),
    Planted("other_order", "clean", (2,), (32,),
            lambda r: {"in": _ints(r, 512).astype(np.uint32), "out": _zeros(64, np.uint32), "pairs": 4}),
)  # fmt: skip
