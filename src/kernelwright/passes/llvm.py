"""LLVM, as the rooms behind it see it: started once, spoken to in text.

Everything above this file handles LLVM-IR as ``str``. ``llvmlite`` is imported on first use, so that a command which
never compiles does not pay for it.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from functools import cache

from kernelwright.architectures import DEFAULT_ARCHITECTURE, ptx_version
from kernelwright.errors import IRError, Place, ToolError
from kernelwright.passes import command_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from llvmlite.binding import ModuleRef, TargetMachine

TRIPLE = "nvptx64-nvidia-cuda"

SWITCHES = ("-instcombine-code-sinking=0", "-disable-machine-sink")
"""How LLVM is configured in every process: what is computed stays where the program computes it. Sunk into a guarded store, a long
sum keeps all that it is made of in registers until there (``docs/decisions/0015``)."""

_ATTRIBUTE = re.compile(r'"target-(cpu|features)"="[^"]*"')
_CPU = re.compile(r'"target-cpu"="(sm_\w+)"')
_LINE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")


@cache
def binding() -> Any:
    """``llvmlite.binding`` with its targets initialised. Raises ``ToolError`` when llvmlite is missing or too old."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise ToolError(
            f"llvmlite, which carries LLVM, cannot be imported ({error})", hint="pip install 'llvmlite==0.50.*'"
        ) from error
    if not hasattr(llvm, "create_pass_builder"):
        raise ToolError("this llvmlite has no new pass manager", hint="pip install 'llvmlite==0.50.*'")
    return _ready(llvm)


def _ready(llvm: Any) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if TRIPLE.partition("-")[0] not in _target_names(llvm):
        raise ToolError("this llvmlite was built without the NVPTX target", hint="pip install 'llvmlite==0.50.*'")
    for switch in SWITCHES:
        llvm.set_option("kernelwright", switch)
    return llvm


@cache
def engine() -> Any:
    """What ``binding`` gives, or the part of it in ``quick_llvm``, where that will do: in a command that compiles and ends.

    Objects of the two must not be mixed; what is in this room and in ``codegen/ptx.py`` asks here alone.
    """
    if command_fork.is_taken() and "llvmlite.binding" not in sys.modules:
        from kernelwright.passes import quick_llvm

        if quick_llvm.load():
            return _ready(quick_llvm)
    return binding()


def _target_names(llvm: Any) -> str:
    try:
        return str(llvm.Target.from_triple(TRIPLE).name)
    except RuntimeError:
        return ""


def target_machine(arch: str, level: int) -> TargetMachine:
    """A code generator for ``arch`` at optimisation ``level`` 0 to 3. Raises ``Misuse`` for an unknown name."""
    llvm = engine()
    features = f"+ptx{ptx_version(arch)}"
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=arch, features=features, opt=level)


def run_once(manager: Any, module: Any, builder: Any) -> None:
    """Runs a module pass manager and frees it.

    llvmlite 0.50 does not: its ``ModulePassManager`` inherits a ``_dispose`` that does nothing before the one that does
    something, and a default pipeline holds 100 KB. A night's search makes a million.
    """
    try:
        manager.run(module, builder)
    finally:
        if type(manager).__module__.startswith("llvmlite."):
            from llvmlite.binding import ffi

            ffi.lib.LLVMPY_DisposeNewModulePassManger(manager)
            manager.detach()


def architecture_of(ir_text: str) -> str:
    """The architecture the IR's functions are attributed with, or the default when they name none."""
    found = _CPU.search(ir_text)
    return found.group(1) if found else DEFAULT_ARCHITECTURE


def retarget(ir_text: str, arch: str) -> str:
    """The same module with every function attributed for ``arch``; function attributes outrank the target machine.

    before   ``attributes #0 = { nounwind "target-cpu"="sm_75" "target-features"="+ptx87,+sm_75" }``
    after    ``attributes #0 = { nounwind "target-cpu"="sm_90" "target-features"="+ptx78,+sm_90" }``
    """
    value = {"cpu": arch, "features": f"+ptx{ptx_version(arch)},+{arch}"}
    return _ATTRIBUTE.sub(lambda m: f'"target-{m[1]}"="{value[m[1]]}"', ir_text)


@contextmanager
def parsed(ir_text: str) -> Iterator[ModuleRef]:
    """The verified module in a context of its own; both are freed, in this order, when the block ends.

    Raises ``IRError`` with the line LLVM stumbled on. The context must not be LLVM's global one, which remembers the
    pass gate of the first pipeline run in it.
    """
    with engine().create_context() as context, parse(ir_text, context) as module:
        yield module


def parse(ir_text: str, context: Any = None) -> ModuleRef:
    """The verified module in ``context``, which the caller keeps alive for longer, or in one that it keeps itself. Raises
    ``IRError``. Prefer ``parsed`` or ``check``."""
    llvm = engine()
    if "\0" in ir_text:
        raise IRError("LLVM-IR does not parse: it contains a zero byte", hint="give text; bitcode is not read here")
    try:
        module = llvm.parse_assembly(ir_text, context or llvm.create_context())
    except RuntimeError as error:
        raise _ir_error(str(error), ir_text) from None
    try:
        module.verify()
    except RuntimeError as error:
        # A traceback would keep the module alive, and the garbage collector might free its context first.
        module.close()
        raise _ir_error(str(error), ir_text) from None
    return module


def check(ir_text: str) -> None:
    """Whether LLVM accepts this IR: parses and verifies it. Raises ``IRError`` with the line LLVM stumbled on."""
    with parsed(ir_text):
        pass


def _ir_error(message: str, ir_text: str) -> IRError:
    found = _LINE.search(message)
    if not found:
        first = message.strip().splitlines()[0] if message.strip() else "unknown reason"
        return IRError(f"LLVM refuses this IR: {first}", hint="print the module before this step and check it")
    line, column = int(found[1]), int(found[2])
    lines = ir_text.splitlines()
    text = lines[line - 1] if line <= len(lines) else ""
    return IRError(f"LLVM-IR does not parse: {found[3]}", place=Place("<ir>", line, column, text))
