"""The options of ``nvrtcCompileProgram`` as ours: spelled ``--name=value``, ``--name value`` or ``-x value``, as NVRTC takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from kernelwright.architectures import ARCHITECTURES, DEFAULT_ARCHITECTURE
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions

DEFAULT_STD = "c++17"
_ARCH = ("--gpu-architecture", "-arch")
_INCLUDE = ("--include-path", "-I")
_DEFINE = ("--define-macro", "-D")
_UNDEFINE = ("--undefine-macro", "-U")
_BEFORE = ("--pre-include", "-include")
_STD = ("--std", "-std")
_FLUSH = ("--ftz", "-ftz")
_FUSE = ("--fmad", "-fmad")
_LEVEL = ("--dopt", "-dopt")

_READ = (_ARCH, _INCLUDE, _DEFINE, _UNDEFINE, _BEFORE, _STD, _FLUSH, _FUSE, _LEVEL)
_FIRST = {name: names[0] for names in _READ for name in names}
"""Both spellings of an option are one, whose values come in the order they were given."""
_TAKES_VALUE = (
    *_FIRST,
    "--relocatable-device-code", "-rdc", "--ptxas-options", "-Xptxas", "--maxrregcount", "-maxrregcount",
    "--prec-sqrt", "-prec-sqrt", "--prec-div", "-prec-div", "--builtin-move-forward", "-builtin-move-forward",
    "--builtin-initializer-list", "-builtin-initializer-list", "--split-compile", "-split-compile",
    "--diag-error", "-diag-error", "--diag-suppress", "-diag-suppress", "--diag-warn", "-diag-warn",
    "--optimization-info", "-opt-info", "--time", "-time", "--jump-table-density", "-jtd",
)  # fmt: skip
_FAST_MATH = ("--use_fast_math", "-use_fast_math")
_QUIET = ("--disable-warnings", "-w")
_FOR_BOTH = ("--device-as-default-execution-space", "-default-device")
_LINES = ("--generate-line-info", "-lineinfo")
_DEBUG = ("--device-debug", "-G")
_SWITCHES = (
    *_FAST_MATH, *_QUIET, *_FOR_BOTH, *_LINES, *_DEBUG,
    "--device-c", "-dc", "--device-w", "-dw", "--extensible-whole-program", "-ewp", "--extra-device-vectorization",
    "-extra-device-vectorization", "--modify-stack-limit", "-modify-stack-limit", "--restrict", "-restrict",
    "--device-int128", "-device-int128", "--no-source-include", "-no-source-include", "--no-display-error-number",
    "-no-err-no", "--display-error-number", "-err-no", "--minimal", "-minimal", "--no-cache", "-no-cache",
)  # fmt: skip
"""Where ours has no such choice, they decide nothing: device code is linked and optimised as a whole."""
_REFUSED = {
    "--dlink-time-opt": "link-time optimisation makes LTO-IR, which only NVIDIA's linker reads",
    "-dlto": "link-time optimisation makes LTO-IR, which only NVIDIA's linker reads",
    "--optix-ir": "OptiX-IR is NVIDIA's own",
    "-optix-ir": "OptiX-IR is NVIDIA's own",
}


class BadOption(Exception):
    """An option that NVRTC does not have, or that ours does not take; the message is for the log."""


@dataclass(frozen=True)
class NvrtcOptions:
    """What the options said. ``for_both``: functions without a qualifier are the device's, too."""

    compile: CompileOptions
    for_both: bool = False
    names_machine: bool = False
    """Whether a machine's architecture was named (sm_80, not compute_80), so that there is a cubin."""


@dataclass
class _Told:
    values: dict[str, list[str]] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)

    def all(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.values.get(names[0], ()))

    def last(self, names: Sequence[str], default: str) -> str:
        return (default, *self.all(names))[-1]

    def has(self, names: Sequence[str]) -> bool:
        return not self.switches.isdisjoint(names)


def read_options(given: Sequence[str], folders: Sequence[str] = ()) -> NvrtcOptions:
    """The options of a program. ``folders``: searched for headers before theirs. Raises ``BadOption``."""
    told = _read(given)
    named = told.last(_ARCH, DEFAULT_ARCHITECTURE.replace("sm_", "compute_"))
    level = told.last(_LEVEL, "on")
    extra = [flag for name in told.all(_BEFORE) for flag in ("-include", name)]
    source = SourceOptions(
        arch=_architecture(named),
        include=(*folders, *told.all(_INCLUDE)),
        define=("__CUDACC_RTC__=1", *told.all(_DEFINE)),
        undefine=told.all(_UNDEFINE),
        std=told.last(_STD, DEFAULT_STD),
        fast_math=told.has(_FAST_MATH),
        flush_denormals=_truth(told.last(_FLUSH, "false")),
        fuse=_truth(told.last(_FUSE, "true")),
        # NVRTC knows assert without a header.
        extra=("-include", "assert.h", *extra, *(("-w",) if told.has(_QUIET) else ())),
    )
    passes = PassOptions.of(0 if level == "off" or (told.has(_DEBUG) and not told.all(_LEVEL)) else 3, ())
    options = CompileOptions(source=source, passes=passes, line_info=told.has(_LINES))
    return NvrtcOptions(options, told.has(_FOR_BOTH), named.startswith("sm_"))


def _read(given: Sequence[str]) -> _Told:
    told = _Told()
    words = iter(given)
    for word in words:
        name, value = _split(word, words)
        if name in _REFUSED:
            raise BadOption(f"nvrtc: error: {name} is not supported: {_REFUSED[name]}")
        if name in _SWITCHES:
            told.switches.add(name)
        elif name in _TAKES_VALUE:
            if value is None:
                raise BadOption(f"nvrtc: error: missing value for option {name}")
            told.values.setdefault(_FIRST.get(name, name), []).append(value)
        else:
            raise BadOption(f"nvrtc: error: unrecognized option {word} found")
    return told


def _split(word: str, more: Iterator[str]) -> tuple[str, str | None]:
    """The name and the value of an option, which may be in one word, behind a space in it, or the next word."""
    word = word.strip()
    if word in _SWITCHES:
        return word, None
    if word in _TAKES_VALUE:
        return word, next(more, None)
    short = re.match(r"(-[IDU])\s*(.+)$", word, re.S)
    if short:
        return short[1], short[2]
    parts = re.match(r"(-{1,2}[\w-]+)(?:=|\s+)(.*)$", word, re.S)
    return (parts[1], parts[2].strip()) if parts else (word, None)


def _architecture(named: str) -> str:
    """The newest that runs on what was named: ``sm_86`` may be compiled for ``sm_80``."""
    found = re.fullmatch(r"(?:compute|sm|lto)_(\d+)([af]?)", named)
    if not found:
        raise BadOption(f"nvrtc: error: invalid value for --gpu-architecture: {named}")
    exact = f"sm_{found[1]}{found[2]}"
    if exact in ARCHITECTURES:
        return exact
    older = [name for name, each in ARCHITECTURES.items() if each.number <= int(found[1]) and name[-1].isdigit()]
    return max(older, key=lambda name: ARCHITECTURES[name].number, default=DEFAULT_ARCHITECTURE)


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise BadOption(f"nvrtc: error: {text} is neither true nor false")
    return text == "true"
