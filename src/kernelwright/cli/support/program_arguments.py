"""A CUDA program as the commands that run one take it: sources and flags, or an executable; after ``--`` its own arguments.

    kw run -O2 app.cu util.c -- 100 input.txt
    kw run ./app -- 100 input.txt

``run``, ``profile``, ``check``, ``capture`` share the flags below and the executable that ``Program.built`` finds or makes.
"""

from __future__ import annotations

import atexit
import functools
import math
import operator
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwright.cache import cache_folder, installation
from kernelwright.cli.commands.compile import HOST_SUFFIXES, is_linkable, link_options
from kernelwright.cli.support.compile_flags import TUNED, CompileFlags
from kernelwright.cli.support.error_exit import tell
from kernelwright.cli.support.plain_flags import Flag
from kernelwright.cli.support.receipts import leave_receipt, recall, receipt_key
from kernelwright.cuda.inputs import now_ns
from kernelwright.device.settings import BUDGET, TIMEOUT_S, Settings, calibrated, size_in_bytes
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.long_steps import announced
from kernelwright.pipeline import CUDA_SUFFIXES, Program
from kernelwright.pipeline import compile as compile_program
from kernelwright.target import GPUS
from kernelwright.values import replaced

_RUNNING_FLAGS = (
    Flag(
        "device",
        ("--device",),
        "text",
        f"auto, a virtual GPU ({', '.join(GPUS)}, or a TOML file), or cuda:0.",
        "auto",
    ),
    Flag("calibration", ("--calibration",), "text", "Constants of the timing model: a file of kw model fit."),
    Flag(
        "budget", ("--budget",), "text", f"Loop iterations of one launch before it counts as endless; default {BUDGET}."
    ),
    Flag("timeout", ("--timeout",), "text", f"Seconds that one launch may take, 0 for any; default {TIMEOUT_S:g}."),
    Flag("gpus", ("--gpus",), "text", "How many virtual GPUs the program finds; default 1."),
    Flag("memory", ("--memory",), "text", "Memory that the device may take: 512M, 16G; default what is free."),
    Flag("library", ("-l", "--library"), "texts", "Library to link."),
    Flag("library_folder", ("-L", "--library-path"), "texts", "Folder to search for libraries."),
    Flag("linker", ("-Xlinker", "--linker-options"), "texts", "Options for the linker."),
)
PROGRAM_FLAGS: tuple[Flag, ...] = tuple(replaced(flag, group="Where and how it runs") for flag in _RUNNING_FLAGS)
STRICT = Flag(
    "strict",
    ("--strict",),
    "switch",
    "Stop at the first read past a buffer, or at warps that meet at different barriers, which GPUs let pass.",
    False,
)
"""For commands that let such reads pass otherwise."""
SEPARATOR = "--"
THRESHOLDS = "KW_THRESHOLDS"
"""The variable that names a threshold file (``docs/tune.md``)."""


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """A command line before and behind its first ``--``."""
    if SEPARATOR not in arguments:
        return list(arguments), []
    at = list(arguments).index(SEPARATOR)
    return list(arguments[:at]), list(arguments[at + 1 :])


@dataclass(frozen=True)
class GivenProgram:
    """What the command line said."""

    paths: tuple[Path, ...]
    """Sources, or one executable."""
    arguments: tuple[str, ...]
    """The program's own."""
    flags: CompileFlags
    settings: Settings
    link: tuple[tuple[str, ...], ...]
    """Libraries, their folders, options for the linker."""

    @classmethod
    def of(
        cls,
        paths: Sequence[Path],
        arguments: Sequence[str],
        flags: CompileFlags,
        own: dict[str, Any],
        virtual_for: str = "",
    ) -> GivenProgram:
        """From the values of ``PROGRAM_FLAGS`` and ``STRICT`` by name; takes them out of ``own``.

        Sources are compiled for the device's architecture when the flags name none. ``virtual_for`` as ``Settings`` has it.
        Raises ``Misuse`` for bad values, ``ToolError`` and ``DeviceError`` for a GPU that this machine lacks.
        """
        value = {flag.name: own.pop(flag.name, flag.default) for flag in PROGRAM_FLAGS}
        settings = Settings.for_device(
            calibrated(value["device"], value["calibration"]),
            budget=_number("--budget", value["budget"], int),
            timeout_s=_number("--timeout", value["timeout"], float),
            memory_bytes=size_in_bytes(value["memory"]) if value["memory"] else None,
            virtual_for=virtual_for,
            strict=own.pop(STRICT.name, False),
            gpus=_number("--gpus", value["gpus"], int, example=2),
        )
        if not paths:
            raise Misuse("there is no program to run", hint="give a .cu file, or a program that kw compile made")
        link = tuple(tuple(value[name] or ()) for name in ("library", "library_folder", "linker"))
        return cls(tuple(paths), tuple(arguments), flags.for_arch(_arch(settings)), settings, link)

    @property
    def is_executable(self) -> bool:
        """Whether the program is built already."""
        return len(self.paths) == 1 and self.paths[0].suffix not in (*CUDA_SUFFIXES, *HOST_SUFFIXES)

    def environment(self, winners: Sequence[str] = ()) -> dict[str, str]:
        """What the program finds besides: the thresholds of the file among ``winners``, which is what it was tuned with; else those that
        ``kw tune`` left beside its source, where it is built here, for it looks beside its own file, which is in the cache."""
        if THRESHOLDS in os.environ:
            return {}
        given = [Path(name) for text in winners for name in text.split(",") if name.endswith(TUNED)]
        beside = [] if self.is_executable else [self.paths[0].with_suffix(TUNED)]
        path = next((path for path in (*given, *beside) if path.is_file()), None)
        if path is None:
            return {}
        _tell_another_device(path, self.settings)
        return {THRESHOLDS: str(path.absolute())}

    def executable(self) -> Path:
        """The program as a file that can be executed, built when it is not there yet.

        Raises ``Misuse``, ``CompileError``, ``ToolError``; prints the compiler's warnings.
        """
        if self.is_executable:
            return _checked(self.paths[0])
        return _built(self)


def _tell_another_device(path: Path, settings: Settings) -> None:
    """Says where thresholds were found on another device than the one they are taken to: they may not be the best there."""
    from kernelwright.versions.threshold_file import header_of

    try:
        header = header_of(path)
    except Misuse:  # The program says what is wrong with its file.
        return
    here = settings.name.partition("@")[0]
    if header is not None and header[1] != here:
        tell(f"{path} was tuned on {header[1]}, and this runs on {here}: its thresholds may not be the best here")


def _number(flag: str, text: str | None, kind: type[int] | type[float], example: int = 100) -> Any:
    if text is None:
        return None
    try:
        number = kind(text)
    except ValueError:
        number = -1
    if not 0 <= number < math.inf:
        raise Misuse(f"{flag} {text} is no number that makes sense", hint=f"as {flag} {example}")
    return number


def _arch(settings: Settings) -> str:
    """The architecture of the device that the program will run on. Raises when a real GPU cannot be had."""
    if not settings.real:
        return settings.gpu.arch
    from kernelwright.device.real_gpu.availability import require_gpu

    return require_gpu(settings.ordinal).arch


def _checked(path: Path) -> Path:
    if not path.exists():
        raise Misuse(f"{path} does not exist", hint="check the path; the program's own arguments go behind --")
    if path.is_dir():
        raise Misuse(f"{path} is a folder", hint="give its sources, or a program")
    if is_linkable(path):
        raise Misuse(
            f"{path} is no whole program", hint=f"kw compile {path} -o app, then name ./app; or give the sources"
        )
    with path.open("rb") as file:
        head = file.read(4)
    if head[:4] != b"\x7fELF" and head[:2] != b"#!":
        known = ", ".join((*CUDA_SUFFIXES, *HOST_SUFFIXES))
        raise Misuse(
            f"{path} is neither a program nor a source by its suffix",
            hint=f"sources end in {known}; the program's own arguments go behind --",
        )
    return path


def _built(program: GivenProgram) -> Path:
    """The executable in the cache: made before from the very same files, or now."""
    since_ns = now_ns()
    name = program.paths[0].stem
    # As a command line of its own, under which a receipt is kept.
    words = [repr(program.flags.options), repr(program.link), *map(str, program.paths)]
    receipt = ["kw", "build", *words, installation(), sys.executable]
    target = cache_folder() / "exe" / receipt_key(receipt) / name
    if program.flags.use_cache and recall(receipt):
        return target
    with announced(f"compiling {program.paths[0].name}"):
        return _built_now(program, target, receipt, since_ns)


def _built_now(program: GivenProgram, target: Path, receipt: list[str], since_ns: int) -> Path:
    from kernelwright.executable import build_executable, host_inputs

    cuda = [path for path in program.paths if path.suffix in CUDA_SUFFIXES]
    others = [path for path in program.paths if path not in cuda]
    for path in others:
        if path.suffix not in HOST_SUFFIXES:
            if cuda and not path.exists():
                words = [str(each) for each in others if each.suffix not in HOST_SUFFIXES]
                sources = [str(each) for each in program.paths if str(each) not in words]
                raise Misuse(
                    f"{path} does not exist",
                    hint=f"the program's own arguments go behind --: {shlex.join(sources)} -- {shlex.join(words)}",
                )
            _checked(path)
            raise Misuse(f"{path} is a program among sources", hint="give sources, or one program")
    options = program.flags.options
    compiled = (
        compile_program(list(cuda), options=options, cache=program.flags.use_cache) if cuda else Program((), options)
    )
    messages = "".join(unit.source.warnings for unit in compiled.units)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        # A cache that cannot be written to: the program lives as long as this process.
        folder = tempfile.mkdtemp(prefix="kernelwright-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        target = Path(folder) / target.name
    link = link_options(*program.link)
    _, warnings = build_executable(compiled, others, target, link)
    messages += warnings
    sys.stderr.write(messages)
    clang = compiled.clang
    if any(program.link[1:]) or not program.flags.use_cache:
        return target  # libraries of the user's own may change, and it is unknown which they are
    inputs = [unit.inputs for unit in compiled.units]
    read_as = {unit.path: unit.options.source for unit in compiled.units}
    inputs += [host_inputs(path, read_as.get(path, options.source), clang, since_ns) for path in program.paths]
    leave_receipt(receipt, functools.reduce(operator.add, inputs), {str(target): target.read_bytes()}, messages)
    return target
