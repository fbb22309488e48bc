"""The flags of ``kw compile``, which every command that takes a CUDA program also takes, and what they mean together.

They are spelled as nvcc spells them, where nvcc has them, besides our own way; ``nvcc_flags.py`` lists those that decide nothing.
"""

from __future__ import annotations

import os
import re
import sys

from kernelwright.architectures import ARCHITECTURES, DEFAULT_ARCHITECTURE, architecture, number_of, runs_on
from kernelwright.cli.support.nvcc_flags import NVCC_FLAGS, remarks
from kernelwright.cli.support.plain_flags import Flag
from kernelwright.cuda import openmp
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.errors import Misuse
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.values import frozen, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from kernelwright.cli.support.plain_flags import Kind

_TYPES: dict[Kind, Any] = {"text": str | None, "texts": list[str] | None, "level": int, "switch": bool}

_GROUP = "How the program is compiled"

_OURS: tuple[Flag, ...] = (
    Flag(
        "arch",
        ("--arch", "-arch", "--gpu-architecture"),
        "text",
        f"GPU architecture, sm_75 to sm_121; default {DEFAULT_ARCHITECTURE}.",
    ),
    Flag("generate_code", ("-gencode", "--generate-code"), "texts", "As nvcc's: arch=compute_80,code=sm_80."),
    Flag("gpu_code", ("-code", "--gpu-code"), "texts"),
    Flag("include", ("-I", "--include-path"), "texts", "Folder to search for headers."),
    Flag("system_include", ("-isystem", "--system-include"), "texts", "Folder to search for headers that may warn."),
    Flag("pre_include", ("-include", "--pre-include"), "texts", "Header to include first."),
    Flag("define", ("-D", "--define-macro"), "texts", "Define a macro: NAME or NAME=VALUE."),
    Flag("undefine", ("-U", "--undefine-macro"), "texts", "Undefine a macro."),
    Flag("std", ("--std", "-std"), "text", "C++ standard, as c++17."),
    Flag("level", ("-O", "--optimize"), "level", "Optimisation level, 0 to 3.", 3),
    Flag(
        "line_info", ("--line-info", "-lineinfo", "--generate-line-info"), "switch", "Keep source lines in PTX.", False
    ),
    Flag("fast_math", ("--use_fast_math", "-use_fast_math"), "switch", "nvcc's fast math.", False),
    Flag("flush_denormals", ("-ftz", "--ftz"), "text", "true: single-precision denormals become zero."),
    Flag("fuse", ("-fmad", "--fmad"), "text", "false: no multiply and add in one operation."),
    Flag("quiet", ("-w", "--disable-warnings"), "switch", "No warnings.", False),
    Flag("host_compiler", ("-Xcompiler", "--compiler-options"), "texts"),
    Flag("default_stream", ("--default-stream", "-default-stream"), "text"),
    Flag("without", ("--without",), "texts", "Steps to leave out, by the names of `kw passes`."),
    Flag("threshold", ("--threshold",), "texts", "Set a threshold: unroll=200."),
    Flag("clang", ("--clang",), "text", "Another clang, 19 to 22 (16 with NVIDIA's headers)."),
    Flag(
        "headers",
        ("--headers",),
        "text",
        "CUDA headers: own, or nvidia (thrust, cub; needs the extra `nvidia`).",
        "own",
    ),
    Flag("cuda_path", ("--cuda-path",), "text", "A CUDA toolkit whose headers and libdevice are used."),
    Flag("hermetic", ("--hermetic",), "switch", "Bundled C and C++ headers and library only.", False),
    Flag("no_cache", ("--no-cache",), "switch", "Compile everything anew.", False),
)
WITH = Flag(
    "winners",
    ("--with",),
    "texts",
    "RUN[:VARIANT][,RUN...]: with these winners inside, checked at each launch; or a threshold file of kw tune --with.",
)
"""Of the commands that take a program and run or compile it."""
TUNED = ".tuning"
"""The ending of a threshold file."""

COMPILE_FLAGS: tuple[Flag, ...] = tuple(replaced(flag, group=_GROUP) for flag in (*_OURS, *NVCC_FLAGS))


@frozen
class CompileFlags:
    """What the flags said."""

    options: CompileOptions
    use_cache: bool
    remarks: str = ""
    """A line for stderr about flags that were ignored or narrowed; empty when there is nothing to say."""
    names_arch: bool = False
    """Whether the architecture was asked for, rather than left to us."""
    relocatable: bool = False
    """Whether device code of objects is to be linked later (``-rdc=true``)."""

    def for_arch(self, arch: str) -> CompileFlags:
        """The same flags for a GPU of ``arch``, unless they name another: of several that they name, the newest that it knows."""
        named = (self.options.source.arch, *self.options.also)
        if self.names_arch and len(named) == 1:
            return self
        if self.names_arch:
            fitting = [name for name in named if runs_on(name, arch)] or named[:1]
            arch = max(fitting, key=lambda name: (number_of(name), name))
        source = replaced(self.options.source, arch=arch)
        return replaced(self, options=replaced(self.options, source=source, also=()))

    def with_host(self, flag: str) -> CompileFlags:
        """The same flags, and one more for the host's side."""
        source = self.options.source
        return replaced(self, options=replaced(self.options, source=replaced(source, host=(*source.host, flag))))

    @classmethod
    def of(cls, given: dict[str, Any]) -> CompileFlags:
        """From the values of ``COMPILE_FLAGS`` by name; takes them out of ``given``.

        Raises ``Misuse`` for bad values and for flags of nvcc's that are not supported.
        """
        value = {flag.name: given.pop(flag.name, flag.default) for flag in COMPILE_FLAGS}
        said = list(remarks(value | {"device_link": given.get("device_link")}))
        arch, also, others = _architecture(value["arch"], value["generate_code"], value["gpu_code"])
        passed = _for_host_compiler(value["host_compiler"] or (), said)
        if value["headers"] != "nvidia" and not value["cuda_path"]:
            value["include"] = _without_toolkits("-I", value["include"], said)
            value["system_include"] = _without_toolkits("-isystem", value["system_include"], said)
        passes = PassOptions.of(value["level"], _names(value["without"]), _thresholds(value["threshold"]))
        source = SourceOptions(
            arch=arch,
            include=(*(value["include"] or ()), *passed["-I"]),
            define=(*(value["define"] or ()), *passed["-D"]),
            undefine=(*(value["undefine"] or ()), *passed["-U"]),
            std=value["std"],
            fast_math=value["fast_math"],
            flush_denormals=_truth("-ftz", value["flush_denormals"], False),
            fuse=_truth("-fmad", value["fuse"], True),
            extra=_for_clang(value, said),
            host=tuple(passed["host"]),
        )
        options = CompileOptions(
            source=source,
            passes=passes,
            line_info=value["line_info"],
            clang=value["clang"],
            cuda_path=value["cuda_path"],
            headers=value["headers"],
            also=also,
            hermetic=True if value["hermetic"] else None,
        )
        lines = [f"kw: ignored: {', '.join(said)}\n"] if said else []
        if others:
            retired = all(map(_RETIRED.fullmatch, others)) and arch == next(iter(ARCHITECTURES))
            why = ", the oldest there is" if retired else " alone" if not also else f" and {', '.join(also)}"
            lines.append(f"kw: compiling for {arch}{why}, not for {', '.join(others)}: --arch chooses\n")
        names_arch = any(value[name] for name in ("arch", "generate_code", "gpu_code"))
        relocatable = _truth("-rdc", value["nvcc_relocatable_device_code"], False)
        return cls(options, not value["no_cache"], "".join(lines), names_arch, relocatable)


def _architecture(
    arch: str | None, specifications: Sequence[str] | None, codes: Sequence[str] | None
) -> tuple[str, tuple[str, ...], list[str]]:
    """The architecture to compile for, those that a program is compiled for as well, and others that were asked for.

    ``--arch`` decides; else, of those that ``-code`` and ``-gencode`` name and we know, the first is the one that all the others can run.
    Makefiles name architectures that no compiler makes code for any longer: the oldest that is left takes their place.
    """
    named = [_real(code) for text in codes or () for code in re.split(r"[\[\],\s'\"]+", text) if code]
    if arch is not None and not named:
        named = [_real(arch)]
    elif not named:
        named = [name for text in specifications or () for name in _generated(text)] or [DEFAULT_ARCHITECTURE]
    if named and all(name in _ANY for name in named):
        return DEFAULT_ARCHITECTURE, (), named
    known = sorted({name for name in named if name in ARCHITECTURES}, key=lambda name: ARCHITECTURES[name].number)
    oldest = next(iter(ARCHITECTURES))
    retired = not known and all(_RETIRED.fullmatch(name) for name in named)
    chosen = oldest if retired else architecture(known[0] if known else named[0]).name
    return chosen, tuple(known[1:]), [name for name in dict.fromkeys(named) if name != chosen and name not in known]


_ANY = ("native", "all", "all-major")
"""Whatever there is: of one, which a GPU at hand may read as PTX."""
_RETIRED = re.compile(r"sm_[1-5][0-9]")
"""Tesla to Maxwell: CUDA 13 has Turing as its oldest."""


def _generated(specification: str) -> list[str]:
    """``arch=compute_80,code=[sm_80,compute_80]`` -> ``sm_80``."""
    found = re.fullmatch(r"arch=\[?(\w+)\]?(?:,code=[\[\"']*([\w,]+)[\]\"']*)?", specification.strip("\"'"))
    if not found:
        raise Misuse(f"-gencode {specification} is not arch=...,code=...", hint="as arch=compute_80,code=sm_80")
    return list(dict.fromkeys(_real(code) for code in (found[2] or found[1]).split(",") if code))


def _real(name: str) -> str:
    """``compute_80`` and ``sm_80`` are the same to us: PTX for the one is PTX for the other."""
    return re.sub(r"^(compute|lto)_", "sm_", name)


def _without_toolkits(flag: str, folders: list[str] | None, said: list[str]) -> list[str]:
    """The folders but for headers of an installed toolkit, which Makefiles name and nvcc finds anyway: they would be mixed with ours."""
    kept = []
    for folder in folders or ():
        if all(os.path.isfile(os.path.join(folder, name)) for name in ("cuda_runtime.h", "crt/host_config.h")):
            said.append(f"{flag} {folder} (our own headers take its place; --cuda-path takes a toolkit's)")
        else:
            kept.append(folder)
    return kept


_WITH_VALUE = ("-include", "-isystem", "-iquote", "-idirafter")
_FOR_HOST = ("-f", "-m", "-O", "-W", "-w", "-g", "-std=", "-pedantic", "-ansi", "-pthread")
_FOR_OTHERS = {"-Wl", "-Wa", "-Wp"}  # their values, behind commas, are words of their own


def _for_host_compiler(given: Iterable[str], said: list[str]) -> dict[str, list[str]]:
    """``-Xcompiler`` options: folders and macros, which concern both sides, by ``-I``, ``-D`` and ``-U``; what clang gets for the
    host side, by ``host``. What is ignored goes to ``said``."""
    found: dict[str, list[str]] = {"-I": [], "-D": [], "-U": [], "host": []}
    words = iter([word for text in given for word in re.split(r"[,\s]+", text.strip("\"'")) if word])
    ignored = []
    for word in words:
        if word[:2] in found:
            value = word[2:] or next(words, "")
            if not value:
                raise Misuse(f"-Xcompiler {word} lacks its value", hint=f"-Xcompiler {word}VALUE")
            found[word[:2]].append(value)
        elif word == "-fopenmp":
            if runtime := openmp.find_openmp():
                found["host"] += runtime.compile_flags
            else:
                said.append(
                    f"-Xcompiler -fopenmp (loops marked for OpenMP run on one thread; on several with {openmp.EXTRA})"
                )
        elif word in _WITH_VALUE:
            found["host"] += [word, next(words, "")]
        elif word.startswith(_FOR_HOST) and word not in _FOR_OTHERS:
            found["host"].append(word)
        else:
            ignored.append(word)
    if ignored:
        said.append(f"-Xcompiler {','.join(ignored)} (not for compiling; -Xlinker reaches the linker)")
    return found


def _for_clang(value: dict[str, Any], said: list[str]) -> tuple[str, ...]:
    """Flags that clang has under another name."""
    flags = [word for folder in value["system_include"] or () for word in ("-isystem", folder)]
    flags += [word for header in value["pre_include"] or () for word in ("-include", header)]
    if value["quiet"]:
        flags.append("-w")
    stream = value["default_stream"]
    if stream not in (None, "legacy", "null", "per-thread"):
        raise Misuse(f"--default-stream {stream} is not known", hint="it is legacy or per-thread")
    if stream == "per-thread":
        if value["headers"] == "nvidia" or value["cuda_path"]:
            flags += ["-Xclang", "-fgpu-default-stream=per-thread"]
        else:
            said.append("--default-stream per-thread (with our headers all threads share one, which orders more)")
    return tuple(flags)


def _truth(flag: str, text: str | None, default: bool) -> bool:
    if text not in (None, "true", "false"):
        raise Misuse(f"{flag}={text} is neither true nor false", hint=f"{flag}=true or {flag}=false")
    return default if text is None else text == "true"


def _names(given: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in given or () for name in text.split(",") if name.strip())


def _thresholds(given: list[str] | None) -> dict[str, int]:
    found = {}
    for item in (item for text in given or () for item in text.split(",")):
        name, equals, value = item.partition("=")
        if not equals or not value.strip().isdecimal():
            raise Misuse(f"--threshold {item!r} is not NAME=NUMBER", hint="kw passes lists the thresholds")
        found[name.strip()] = int(value)
    return found


def takes_flags(command: Callable[..., Any], own: Sequence[Flag] = ()) -> Callable[..., Any]:
    """``command`` as typer wants it: its parameter ``flags`` becomes the single compile flags, ``own`` further flags."""
    import functools
    import inspect
    from typing import Annotated, cast

    import typer

    signature = inspect.signature(command, eval_str=True)
    flag_names = {flag.name for flag in own} | {"flags"}
    parameters = [p for p in signature.parameters.values() if p.name not in flag_names and p.kind is not p.VAR_KEYWORD]
    for flag in (*own, *COMPILE_FLAGS):
        lowest, highest = (0, 3) if flag.kind == "level" else (None, None)
        option = typer.Option(
            *flag.spellings, help=flag.help, hidden=not flag.help, min=lowest, max=highest,
            rich_help_panel=flag.group or None,
        )  # fmt: skip
        annotation = cast("Any", Annotated)[_TYPES[flag.kind], option]
        parameters.append(
            inspect.Parameter(flag.name, inspect.Parameter.KEYWORD_ONLY, default=flag.default, annotation=annotation)
        )

    @functools.wraps(command)
    def with_flags(**given: Any) -> Any:
        flags = CompileFlags.of(given)
        sys.stderr.write(flags.remarks)
        return command(flags=flags, **given)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    with_flags.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_flags
