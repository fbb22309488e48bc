"""LLVM-IR to code for this machine's processor: no GPU, no assembler, a tenth of a millisecond for an individual.

Unoptimised code wins until an individual runs on thousands of times as many cases as the papers' problems have.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from types import TracebackType
from typing import Any

from kernelwright.errors import IRError, ToolError
from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Frame, Language, bundle
from kernelwright.farm.backends.llvm_ir import misread
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.llvm import binding, run_once

CODEGEN: dict[Level, int] = {"quick": 0, "full": 2}


@dataclass(frozen=True)
class Host:
    """Individuals are the inside of a function that returns nothing; ``head`` declares what they call of the C library."""

    language: Language = "host-ir"
    batch: tuple[int, int] = (20, 100)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return f"{binding().llvm_version_info} {_machine('quick').triple}"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        made = bundle(frame, population)
        llvm = binding()
        with llvm.create_context() as context:
            try:
                module = llvm.parse_assembly(made.text, context)
                module.verify()
            except RuntimeError:
                raise misread(made, _reason(made.text)) from None
            machine = _machine(level)
            with module:
                if level == "full":
                    _optimise(llvm, machine, module)
                return Image("object", machine.emit_object(module), made.places)


class Loaded:
    """The functions of an object image in this process's memory.

    with Loaded(image) as code:
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(n))
    """

    def __init__(self, image: Image) -> None:
        """Raises ``ToolError`` for an image that is not of this machine."""
        if image.format != "object":
            raise ToolError(f"a {image.format} does not run on the processor", hint="compile with the host back end")
        llvm = binding()
        self._places = image.places
        with _loading:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _jit_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(image.data))
            self._engine.finalize_object()

    def address(self, individual: int) -> int:
        """Where the function of an individual lies."""
        return int(self._engine.get_function_address(self._places[individual][0]))

    def close(self) -> None:
        """Frees the code: none of its functions may be called any more."""
        self._engine.close()

    def __enter__(self) -> Loaded:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


_loading = threading.Lock()


def _reason(text: str) -> IRError:
    """What LLVM has against the text, with its line."""
    from kernelwright.passes.llvm import check

    try:
        check(text)
    except IRError as error:
        return error
    return IRError("LLVM refuses this IR")


@cache
def _machine(level: Level) -> Any:
    """Code that any processor of this kind runs, so that it can be kept in the cache."""
    llvm = binding()
    return llvm.Target.from_default_triple().create_target_machine(
        opt=CODEGEN[level], reloc="pic", codemodel="default"
    )  # fmt: skip


def _jit_machine() -> Any:
    return binding().Target.from_default_triple().create_target_machine(jit=True)


def _optimise(llvm: Any, machine: Any, module: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(CODEGEN["full"]))
    run_once(builder.getModulePassManager(), module, builder)
