"""Kernelwright makes GPU kernels faster and says, with evidence, what each gain depends on.

    import kernelwright as kw
    program = kw.compile("app.cu", arch="sm_90")
    print(program.kernels, program.ptx())

Everything public is loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it, with the name it has there where that is another.
_PUBLIC = {
    "compile": "kernelwright.pipeline",
    "load": "kernelwright.pipeline",
    "Program": "kernelwright.pipeline",
    "Kernel": "kernelwright.pipeline",
    "Device": "kernelwright.device.from_python.device",
    "checked": "kernelwright.device.checking.checked_launches",
    "CheckFailed": "kernelwright.device.checking.checked_launches",
    "evolve": "kernelwright.stories.evolve",
    "breed": "kernelwright.stories.breed",
    "explore": "kernelwright.stories.explore",
    "from_kernel_tuner": "kernelwright.stories.other_tuners.kernel_tuner",
    "expert": "kernelwright.exploration.expert",
    "computation": "kernelwright.space.computation.family",
    "Computation": "kernelwright.space.computation.declaration",
    "winners": "kernelwright.stories.winners:versions_of",
    "versions": "kernelwright.versions:callable_package",
    "workload": "kernelwright.evaluate.workload.decorated",
    "Problem": "kernelwright.grammar.problem",
    "Run": "kernelwright.evaluate.run.variant_run:VariantRun",
    "KernelwrightError": "kernelwright.errors",
    "CompileError": "kernelwright.errors",
    "Misuse": "kernelwright.errors",
    "ToolError": "kernelwright.errors",
    "IRError": "kernelwright.errors",
}

__all__ = ["__version__", *_PUBLIC]


def __dir__() -> list[str]:
    """What a shell completes after ``kw.``, also before it is loaded."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'kernelwright' has no attribute {name!r}")
    import importlib

    module, _, there = module.partition(":")
    value = getattr(importlib.import_module(module), there or name)
    globals()[name] = value
    return value
