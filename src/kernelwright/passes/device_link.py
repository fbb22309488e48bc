"""Device functions of other files linked in, as nvcc's ``-rdc=true`` does: IR to IR, before anything is optimised.

    before   a.cu  ``declare float @_Z5scalef(float)``     b.cu  ``define float @_Z5scalef(float %x) { ... }``
    after    a.cu  ``define internal float @_Z5scalef(float %x) { ... }``, with what it calls

Each file stays a module of its own, so that a kernel's file is still what it registers from. What functions have in common across
files are variables: those stay where they are defined, and the copy declares them.
"""

from __future__ import annotations

import re

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.errors import CompileError
from kernelwright.passes.llvm import engine, parse, run_once, target_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM_CALLS = frozenset({"vprintf", "malloc", "free", "__assertfail"})
"""What every CUDA device defines (CUDA C++ Programming Guide, "System calls")."""

_NAME = r'@"?([\w.$]+)"?'
_DECLARED = re.compile(rf"^declare [^@\n]*@(?!\"?(?:llvm\.|__nv_)){_NAME[1:]}\(", re.MULTILINE)
_DEFINED = re.compile(
    rf"^define (?!(?:[a-z_]+ )*?(?:internal|private|linkonce\w*|available_externally) )[^@\n]*{_NAME}\(",
    re.MULTILINE,
)
_VARIABLE = re.compile(rf"^{_NAME} = (?P<words>[a-z_ ]*?)addrspace\([14]\) (?P<rest>[^\n]*)$", re.MULTILINE)
_USED = re.compile(r"^@llvm\.(?:compiler\.)?used = [^\n]*\n", re.MULTILINE)


def missing_functions(ir_text: str) -> tuple[str, ...]:
    """The functions a module declares that neither CUDA nor libdevice defines, in the order of the module."""
    return tuple(n for n in dict.fromkeys(_DECLARED.findall(ir_text)) if n not in SYSTEM_CALLS)


def defined_variables(ir_text: str) -> frozenset[str]:
    """The device variables of a module that other files may declare."""
    return frozenset(m[1] for m in _VARIABLE.finditer(ir_text) if _is_shared(m))


def _is_shared(variable: re.Match[str]) -> bool:
    return not re.search(r"\b(external|extern_weak|internal|private)\b", variable["words"])


def linked_with(ir_text: str, others: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The module with the functions it lacks from ``others`` (IR by file name), as internal ones, and the files that gave some.

    What no file defines stays declared. Raises ``CompileError`` for a function that two files define, or one that uses a
    static variable of its file, of which there would be two.
    """
    used: list[str] = []
    tried: set[str] = set()
    while True:
        wanted = [n for n in missing_functions(ir_text) if n not in tried]
        by_file: dict[str, list[str]] = {}
        for name in wanted:
            owners = [file for file, text in others.items() if name in _DEFINED.findall(text)]
            if len(owners) > 1:
                raise CompileError(
                    f"the device function {name} is defined in {owners[0]} and in {owners[1]}",
                    hint="make one of them static, or name them differently",
                )
            for file in owners:
                by_file.setdefault(file, []).append(name)
        if not by_file:
            return ir_text, tuple(dict.fromkeys(used))
        tried.update(wanted)
        for file, names in by_file.items():
            ir_text = _link(ir_text, others[file], tuple(names), file)
            used.append(file)


def _link(ir_text: str, other: str, names: tuple[str, ...], file: str) -> str:
    with engine().create_context() as context, parse(ir_text, context) as module:
        before = {f.name for f in module.functions if not f.is_declaration}
        kernels = {
            name
            for name in names
            if re.search(rf'^define [^@\n]*ptx_kernel [^@\n]*@"?{re.escape(name)}"?\(', other, re.M)
        }
        library = engine().parse_assembly(_reduced(other, names, file), context)
        module.link_in(library)
        for function in module.functions:
            if not function.is_declaration and function.name not in before | kernels:
                function.linkage = "internal"
        return str(module)


def _reduced(ir_text: str, names: tuple[str, ...], file: str) -> str:
    """The module without what ``names`` do not need: no kernels, and variables only declared."""
    llvm = engine()
    with llvm.create_context() as context, parse(_USED.sub("", ir_text), context) as module:
        for function in module.functions:
            if not function.is_declaration and function.name not in names:
                function.linkage = "internal"
        manager = llvm.create_new_module_pass_manager()
        manager.add_global_dead_code_eliminate_pass()
        options = llvm.create_pipeline_tuning_options(0)
        run_once(manager, module, llvm.create_pass_builder(target_machine(DEFAULT_ARCHITECTURE, 0), options))
        text = str(module)
    return _VARIABLE.sub(lambda found: _declared(found, text, file), text)


def _declared(variable: re.Match[str], text: str, file: str) -> str:
    """A variable as a copy of its file's functions has it."""
    name, whole = variable[1], variable[0]
    if len(re.findall(rf'@"?{re.escape(name)}"?(?![\w.$])', text)) == 1:
        return ""
    if _is_shared(variable):
        space = whole[whole.index("addrspace(") :].partition(" ")[0]
        return f'@"{name}" = external {space} global {_type(variable["rest"])}'
    is_state = re.search(r"\b(internal|private)\b", variable["words"]) and (
        "externally_initialized" in variable["rest"] or re.match(r"(?:[a-z_]+ )*global\b", variable["rest"])
    )
    if is_state:
        raise CompileError(
            f"a device function of {file} that another file calls uses {name}, which is static there",
            hint="leave out its static, or keep the kernel in the same file",
        )
    return whole


def _type(rest: str) -> str:
    """``externally_initialized global [4 x float] zeroinitializer, align 4`` -> ``[4 x float]``."""
    text = re.split(r"\b(?:global|constant) ", rest, maxsplit=1)[1]
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "[{<(") - (letter in "]})>")
        if not depth and letter in " ," and not text.startswith(" addrspace(", at):
            return text[:at]
    return text
