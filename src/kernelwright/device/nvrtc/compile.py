"""A program of NVRTC's compiled: its source as text, headers as texts, and names asked for by expressions.

    made = compile_program(Request("scale.cu", source, expressions=("scale<float>",)))
    made.ptx, made.image, made.names["scale<float>"]

An expression becomes a variable that holds the address of what it names; clang writes the name that the linker knows next to it,
and the variable is taken out again.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from kernelwright.cache import Cache, cache_folder, write_atomically
from kernelwright.cuda.image import ptx_with
from kernelwright.device.nvrtc.options import BadOption, NvrtcOptions, read_options
from kernelwright.errors import KernelwrightError
from kernelwright.executable import device_blob, refuse_missing_device_code
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.device_link import defined_variables
from kernelwright.passes.static_variables import named_by_host
from kernelwright.pipeline import Unit

SUCCESS, INVALID_OPTION, COMPILATION, NAME_EXPRESSION = 0, 5, 6, 10
"""Of nvrtcResult."""
DEFAULT_NAME = "default_program"
KIND = "nvrtc"
"""Of the cache: where sources lie."""
_VARIABLE = "__kw_name_"
_OWN_TYPE = re.compile(r"\btypedef\s+(?:(?:un)?signed\s+)?long\s+long\s+(?:int\s+)?(u?int64_t)\s*;")
"""NVRTC has no header of the C library before the source, so programs name such types themselves; Linux says ``long`` there."""


@dataclass(frozen=True)
class Request:
    """What is to be compiled. ``headers``: text by the name that ``#include`` gives."""

    name: str
    source: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    options: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """``result``: an nvrtcResult. Only a success has more than a ``log``."""

    result: int
    log: str = ""
    ptx: str = field(default="", repr=False)
    """Carries the image, for devices that do not run PTX."""
    image: bytes = field(default=b"", repr=False)
    """What ``nvrtcGetCUBIN`` gives: a blob. Empty when only a virtual architecture was named, as NVRTC has it."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What the linker calls them, by expression."""


def compile_program(request: Request, cache: Cache | None = None) -> Made:
    """Compiles ``request``. What is wrong with it is in the log."""
    folder = _folder(request)
    # Its own folder first, and the one that its name says, as NVRTC has it.
    folders = [str(folder), *([os.path.dirname(request.name)] if os.path.dirname(request.name) else [])]
    try:
        options = read_options(request.options, folders)
    except BadOption as error:
        return Made(INVALID_OPTION, f"{error}\n")
    path = _write(request, options, folder)
    try:
        return _compiled(request, options, Unit(path, options.compile, cache))
    except KernelwrightError as error:
        # All that clang had to say, where it is clang's.
        log = "".join(getattr(error, "__notes__", ())) or f"{error}\n"
        log = log.replace(f"{folder}/", "")
        return Made(NAME_EXPRESSION if _VARIABLE in log else COMPILATION, log)


def _compiled(request: Request, options: NvrtcOptions, unit: Unit) -> Made:
    text, names = without_names(unit.source.text, request.expressions)
    text = named_by_host(text)
    unit.replace_source(text)
    refuse_missing_device_code(unit, defined_variables(text))
    embedded = device_blob(unit)
    warnings = unit.source.warnings.replace(f"{unit.path.parent}/", "")
    return Made(SUCCESS, warnings, ptx_with(unit.ptx, embedded), embedded if options.names_machine else b"", names)


def without_names(ir: str, expressions: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The module without the variables that hold addresses, and what the linker calls what each expression names.

    before   ``@__kw_name_0 = dso_local addrspace(4) ... constant ptr @_Z5scaleIfEvPT_, align 8``, and its place in ``llvm.compiler.used``
    after    neither; ``{"scale<float>": "_Z5scaleIfEvPT_"}``
    """
    names: dict[str, str] = {}
    for number, expression in enumerate(expressions):
        line = re.search(rf"^@{_VARIABLE}{number} = .*\n", ir, re.M)
        target = re.search(r"constant ptr [^@]*@\"?([\w.$]+)", line[0]) if line else None
        if line is None or target is None:
            continue
        names[expression] = target[1]
        ir = ir.replace(line[0], "")
        # A static variable that the host can name is the host's to write.
        static = rf'^(@"?{re.escape(target[1])}"? = )internal (addrspace\(\d+\)) (?=global|constant)'
        ir = re.sub(static, r"\1dso_local \2 externally_initialized ", ir, flags=re.M)
    if not expressions:
        return ir, names
    return re.sub(
        r"^@llvm\.compiler\.used = appending global \[\d+ x ptr\] \[(.*)\](.*)$", _shorter, ir, flags=re.M
    ), names


def _shorter(found: re.Match[str]) -> str:
    kept = [entry for entry in re.split(r", (?=ptr )", found[1]) if _VARIABLE not in entry]
    if not kept:
        return ""
    return f"@llvm.compiler.used = appending global [{len(kept)} x ptr] [{', '.join(kept)}]{found[2]}"


# -- where it lies as files: the same program always in the same place, so that the cache knows it and tools find its lines ----------


def _folder(request: Request) -> Path:
    parts = [request.name, request.source, *(f"{k}\0{v}" for k, v in request.headers.items()), *request.expressions]
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    folder = cache_folder() / KIND / digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a cache that may not be written: it compiles, and lies where the system tidies
        return Path(tempfile.mkdtemp(prefix="kernelwright-nvrtc-"))
    return folder


def _write(request: Request, options: NvrtcOptions, folder: Path) -> Path:
    """The source, to be compiled where it is when it is a file's own text, so that tools show that file."""
    for name, text in request.headers.items():
        at = Path(os.path.normpath(folder / name))
        if folder in at.parents:
            at.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(at, text.encode("utf-8", "surrogateescape"))
    own = sorted({name for text in (request.source, *request.headers.values()) for name in _OWN_TYPE.findall(text)})
    if not (request.expressions or options.for_both or own) and _is_text_of(request.name, request.source):
        return Path(request.name)
    text = request.source if request.source.endswith("\n") else request.source + "\n"
    if own:
        text = "".join(f"#define {name} {name}_of_the_program\n" for name in own) + f"#line 1\n{text}"
    if options.for_both:
        text = f"#pragma clang force_cuda_host_device begin\n#line 1\n{text}#pragma clang force_cuda_host_device end\n"
    for number, expression in enumerate(request.expressions):
        text += f'#line 1 "the name expression {_quoted(expression)}"\n'
        text += f"__attribute__((device, used)) const void *const volatile {_VARIABLE}{number} = (const void *)({expression});\n"
    name = re.sub(r"[^\w.+-]", "_", os.path.basename(request.name)) or DEFAULT_NAME
    at = folder / (name if name.endswith((".cu", ".cuh")) else f"{name}.cu")
    write_atomically(at, text.encode("utf-8", "surrogateescape"))
    return at


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _is_text_of(name: str, source: str) -> bool:
    try:
        return name.endswith(".cu") and Path(name).read_text(encoding="utf-8", errors="surrogateescape") == source
    except (OSError, ValueError):
        return False
