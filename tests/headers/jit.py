"""Runs device functions that need no GPU instruction on this machine, to check the values they return."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np


def _saturated(round_: Callable[[float], int]) -> Callable[[float], int]:
    def convert(x: float) -> int:
        return 0 if math.isnan(x) else int(max(-(2**31), min(2**31 - 1, x if math.isinf(x) else round_(x))))

    return convert


def _sincos(scale: float) -> Callable[[float, Any, Any], None]:
    def store(x: float, sine: Any, cosine: Any) -> None:
        sine[0], cosine[0] = math.sin(scale * x), math.cos(scale * x)

    return store


_FLOAT, _DOUBLE, _INT = ctypes.c_float, ctypes.c_double, ctypes.c_int

# The libdevice entries that the functions under test use.
_LIBDEVICE = {
    "__nv_logf": ctypes.CFUNCTYPE(_FLOAT, _FLOAT)(math.log),
    "__nv_log": ctypes.CFUNCTYPE(_DOUBLE, _DOUBLE)(math.log),
    "__nv_expf": ctypes.CFUNCTYPE(_FLOAT, _FLOAT)(math.exp),
    "__nv_exp": ctypes.CFUNCTYPE(_DOUBLE, _DOUBLE)(math.exp),
    "__nv_fast_sincosf": ctypes.CFUNCTYPE(None, _FLOAT, *[ctypes.POINTER(_FLOAT)] * 2)(_sincos(1.0)),
    "__nv_sincospi": ctypes.CFUNCTYPE(None, _DOUBLE, *[ctypes.POINTER(_DOUBLE)] * 2)(_sincos(math.pi)),
    "__nv_float2int_rd": ctypes.CFUNCTYPE(_INT, _FLOAT)(_saturated(math.floor)),
    "__nv_float2int_rz": ctypes.CFUNCTYPE(_INT, _FLOAT)(_saturated(math.trunc)),
    # With NVIDIA's headers these are calls, too.
    "__nv_floorf": ctypes.CFUNCTYPE(_FLOAT, _FLOAT)(math.floor),
    "__nv_fabsf": ctypes.CFUNCTYPE(_FLOAT, _FLOAT)(abs),
    "__nv_fmaxf": ctypes.CFUNCTYPE(_FLOAT, _FLOAT, _FLOAT)(max),
    "__nv_max": ctypes.CFUNCTYPE(_INT, _INT, _INT)(max),
    "__nv_min": ctypes.CFUNCTYPE(_INT, _INT, _INT)(min),
}


class Program:
    """Native code of a module. ``call(name, *arrays and numbers)`` passes arrays by address, the rest as 64-bit integers."""

    def __init__(self, ir: str) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        native = re.sub(r"^target (datalayout|triple) = .*$", "", ir, flags=re.M)
        native = re.sub(r'"target-(cpu|features)"="[^"]*"', "", native)
        native = re.sub(r"\bptx_kernel\b|\bcomdat\b(\(\$\S+\))?|^\$\S+ = comdat any$", "", native, flags=re.M)
        # Constructors and the registration of the host pass have nothing to register with here.
        native = re.sub(r"^@llvm\.global_ctors = .*$", "", native, flags=re.M)
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
        )
        module = llvm.parse_assembly(native)
        module.triple, module.data_layout = llvm.get_default_triple(), str(machine.target_data)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
        builder.getModulePassManager().run(module, builder)
        for name, function in _LIBDEVICE.items():
            llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()

    def call(self, name: str, *arguments: Any) -> None:
        kinds = [ctypes.c_void_p if isinstance(a, np.ndarray) else ctypes.c_int64 for a in arguments]
        values = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments]
        ctypes.CFUNCTYPE(None, *kinds)(self._engine.get_function_address(name))(*values)


def edge_words(rng: np.random.Generator, count: int, bits: int = 32) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Random words, with the values where integer code goes wrong mixed in."""
    top = 1 << (bits - 1)
    special = [0, 1, 2, 31, 32, 33, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2]
    words = rng.integers(0, 2 * top, count, dtype=np.uint64, endpoint=False)
    sparse = rng.random(count) < 0.3
    words[sparse] = rng.choice(np.array(special, np.uint64), int(sparse.sum()))
    return words


def signed(word: int, bits: int = 32) -> int:
    return word - (1 << bits) if word >> (bits - 1) else word


def elements(word: int, width: int, is_signed: bool) -> Iterator[int]:
    for shift in range(0, 32, width):
        value = word >> shift & ((1 << width) - 1)
        yield signed(value, width) if is_signed else value
