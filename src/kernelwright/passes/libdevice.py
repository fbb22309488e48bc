"""CUDA's math functions in bitcode (``libdevice.10.bc``): found, pruned to what a module calls, cached, linked in.

The front end leaves ``sinf`` as a call of ``__nv_sinf``, so that the IR stays free of vendor code until it is needed.
Linking happens before optimisation, because the bodies must be inlined and their ``__nvvm_reflect`` questions answered.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.cache import Cache, content_key, file_digest
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.passes.llvm import engine, parse, run_once, target_machine
from kernelwright.passes.nvidia_files import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "libdevice.10.bc"
INSTALL = "pip install nvidia-cuda-nvcc-cu12==12.9.86"

# The CUDA 12 compiler wheel, the CUDA 13 NVVM wheel; a toolkit.
IN_WHEELS = (f"cuda_nvcc/nvvm/libdevice/{NAME}", f"cu1?/nvvm/libdevice/{NAME}")
IN_TOOLKITS = (f"nvvm/libdevice/{NAME}",)

_ATTRIBUTE_GROUP = re.compile(r" #\d+$")
_DECLARED = re.compile(r'^declare [^@\n]*@"?(__nv_\w+)"?\(', re.MULTILINE)

# LLVM's own math intrinsics for which NVPTX has no instruction; code generation would abort on them. exp2 has one in single
# precision, and sin, cos and tanh do where the call allows an approximation.
_WITHOUT_INSTRUCTION = "sin cos tan asin acos atan sinh cosh tanh exp exp10 log log2 log10 pow"
_INTRINSIC = re.compile(rf"@llvm\.(?:({_WITHOUT_INSTRUCTION.replace(' ', '|')})\.(f32|f64)|(exp2)\.(f64))(?=\()")
_APPROXIMATE = re.compile(r"\bcall\b[^@]*\b(?:fast|afn)\b[^@]*@llvm\.(?:sin|cos|tanh)\.f32\(")


def find_libdevice(cuda_path: Path | None = None) -> Path | None:
    """The first libdevice: below ``cuda_path``, else in a wheel, else in a toolkit. None when there is none.

    Raises ``Misuse`` when ``cuda_path`` was given and holds none.
    """
    found = next(files(IN_WHEELS, IN_TOOLKITS, cuda_path), None)
    if found is None and cuda_path is not None:
        raise Misuse(f"{cuda_path} holds no {IN_TOOLKITS[0]}", hint="give the root of a CUDA toolkit")
    return found


def called_functions(ir_text: str) -> tuple[str, ...]:
    """The ``__nv_*`` functions a module declares but does not define, sorted."""
    return tuple(sorted(set(_DECLARED.findall(ir_text))))


def library_calls(ir_text: str) -> str:
    """The module with math intrinsics that PTX lacks turned into calls of the library.

    before   ``%y = call double @llvm.sin.f64(double %x)``
    after    ``%y = call double @__nv_sin(double %x)``
    """
    if not _INTRINSIC.search(ir_text):
        return ir_text
    lines: list[str] = []
    declared = set(_DECLARED.findall(ir_text))
    for line in ir_text.splitlines():
        changed = line if _APPROXIMATE.search(line) else _INTRINSIC.sub(_library_name, line)
        if changed != line and line.startswith("declare"):
            # Calls that keep the intrinsic need its declaration; the library's function is declared once.
            lines.append(line)
            name = _DECLARED.findall(changed)[0]
            if name in declared:
                continue
            declared.add(name)
            changed = _ATTRIBUTE_GROUP.sub("", changed)
        lines.append(changed)
    return "\n".join(lines) + "\n"


def _library_name(found: re.Match[str]) -> str:
    return f"@__nv_{found[1] or found[3]}{'f' if found[2] == 'f32' else ''}"


def linked_text(ir_text: str, cuda_path: str | Path | None = None) -> str:
    """The module with the math functions it calls linked in, before any optimisation: what optimising starts from.

    Raises what ``link`` raises, and ``IRError`` for IR that does not parse.
    """
    ir_text = library_calls(ir_text)
    names = called_functions(ir_text)
    if not names:
        return ir_text
    with engine().create_context() as context, parse(ir_text, context) as module:
        link(module, context, names, Path(cuda_path) if cuda_path else None)
        return str(module)


def link(module: Any, context: Any, names: tuple[str, ...], cuda_path: Path | None = None) -> None:
    """Defines ``names`` in ``module`` (an llvmlite module of ``context``), as internal functions that always go if unused.

    before   ``declare float @__nv_sinf(float)``
    after    ``define internal float @__nv_sinf(float %x) { ... }``

    Raises ``ToolError`` when no libdevice is installed, ``CompileError`` for a name that libdevice does not define.
    """
    own = {f.name for f in module.functions if not f.is_declaration}
    library = engine().parse_bitcode(_pruned(names, cuda_path), context)
    library.triple, library.data_layout = module.triple, module.data_layout
    module.link_in(library)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"


def _pruned(names: tuple[str, ...], cuda_path: Path | None) -> bytes:
    """Bitcode of ``names`` and what they call, from the cache when it was made before."""
    path = find_libdevice(cuda_path)
    if path is None:
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        raise ToolError(f"this program calls {shown}, which {NAME} defines, and no {NAME} is installed", hint=INSTALL)
    return _prune(path, _digest(path, path.stat().st_mtime_ns), names)


@cache
def _digest(path: Path, modified_ns: int) -> str:
    """Hash of the file; ``modified_ns`` only makes a changed file a new question."""
    return file_digest(str(path)) or ""


@cache
def _prune(path: Path, digest: str, names: tuple[str, ...]) -> bytes:
    llvm = engine()
    store, key = Cache(), content_key([digest, *names, str(llvm.llvm_version_info)])
    found = store.get("libdevice", key)
    if found is not None:
        return found
    with llvm.create_context() as context, _parse(path, context) as library:
        bitcode = _reduce(library, names, path)
    store.put("libdevice", key, bitcode)
    return bitcode


def _reduce(library: Any, names: tuple[str, ...], path: Path) -> bytes:
    """The library without what ``names`` do not need, directly or through each other."""
    llvm = engine()
    defined = {f.name for f in library.functions if not f.is_declaration}
    unknown = [n for n in names if n not in defined]
    if unknown:
        raise CompileError(f"no such device function: {', '.join(unknown)}", hint=f"{path} does not define it")
    for function in library.functions:
        if function.name in defined and function.name not in names:
            function.linkage = "internal"
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    builder = llvm.create_pass_builder(target_machine(DEFAULT_ARCHITECTURE, 0), llvm.create_pipeline_tuning_options(0))
    run_once(manager, library, builder)
    return bytes(library.as_bitcode())


def _parse(path: Path, context: Any) -> Any:
    try:
        return engine().parse_bitcode(path.read_bytes(), context)
    except RuntimeError as error:
        raise ToolError(f"{path} is not readable bitcode: {str(error).splitlines()[0]}", hint=INSTALL) from None
