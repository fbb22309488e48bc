"""Generated kernels compiled together: one file, one pass of clang, one of LLVM; what fails is compiled alone.

before    kernels of one name, each a text of its own
after     one module in which each has a name of its own, and what its blocks cost
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernelwright.codegen.cost.block_weights import Source, Weights, weigh_all
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.cuda.clang import Clang, find_clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.cuda.names import is_called
from kernelwright.device.timing_model.launch_observation import block_labels
from kernelwright.errors import CompileError
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.optimise import optimise
from kernelwright.space.cuda_source import GeneratedKernel


@dataclass(frozen=True)
class Compiled:
    """A kernel: the optimised module that has it, by which name, and what its blocks cost."""

    module: Module
    name: str
    weights: Weights


class Bundler:
    """Compiles for one architecture. LLVM runs in this process and may end it."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self._clang: Clang = find_clang()
        self._source: Source | None = None
        """What costs are read from: the same for all that are compared."""

    def compile(self, kernels: Sequence[GeneratedKernel]) -> list[Compiled | CompileError]:
        """Each, in order, or why it was refused."""
        if not kernels:
            return []
        try:
            return list(self._together(kernels))
        except CompileError as error:
            if len(kernels) == 1:
                return [error]
            return [self.compile([each])[0] for each in kernels]

    def _together(self, kernels: Sequence[GeneratedKernel]) -> list[Compiled]:
        names = [f"{each.name}_{number}" for number, each in enumerate(kernels)]
        text = "\n".join(
            f"#define {each.name} {name}\n{each.source}\n#undef {each.name}"
            for each, name in zip(kernels, names, strict=True)
        )
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            path = Path(folder) / "kernels.cu"
            path.write_text(text, encoding="utf-8")
            source = device_pass(path, SourceOptions(arch=self.arch), self._clang)
        optimised = optimise(source.text, arch=self.arch)
        module = parse_module(optimised)
        weights = weigh_all(emit_ptx(optimised, self.arch), self.arch, block_labels(module), source=self._source)
        self._source = self._source or next(iter(weights.values())).source
        return [Compiled(module, mangled, weights[mangled]) for mangled in _mangled(module, names)]


def _mangled(module: Module, names: Sequence[str]) -> list[str]:
    found: Mapping[str, str] = {
        name: kernel.name
        for kernel in module.kernels
        for name in names
        if kernel.name == name or is_called(kernel.name, name)
    }
    return [found[name] for name in names]
