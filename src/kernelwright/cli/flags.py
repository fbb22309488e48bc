"""The flags of ``kw compile``, which every command that takes a CUDA program also takes: one table, two readers.

typer reads the table for help, checks and messages. ``quick`` reads the same table in half a millisecond, because a
compile takes about as long as importing typer does; whatever it does not take for granted it leaves to typer.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from kernelwright.cuda.frontend import SourceOptions
from kernelwright.errors import Misuse
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.target import DEFAULT_ARCHITECTURE, architecture

Kind = Literal["text", "texts", "level", "switch"]
_TYPES: dict[Kind, Any] = {"text": str | None, "texts": list[str] | None, "level": int, "switch": bool}


@dataclass(frozen=True)
class Flag:
    """One flag: the parameter it fills, how it is spelled, and what it takes."""

    name: str
    spellings: tuple[str, ...]
    kind: Kind
    help: str
    default: Any = None


COMPILE_FLAGS: tuple[Flag, ...] = (
    Flag("arch", ("--arch", "-arch"), "text", "GPU architecture, sm_75 to sm_121.", DEFAULT_ARCHITECTURE),
    Flag("include", ("-I",), "texts", "Folder to search for headers."),
    Flag("define", ("-D",), "texts", "Define a macro: NAME or NAME=VALUE."),
    Flag("undefine", ("-U",), "texts", "Undefine a macro."),
    Flag("std", ("--std", "-std"), "text", "C++ standard, as c++17."),
    Flag("level", ("-O",), "level", "Optimisation level, 0 to 3.", 3),
    Flag("line_info", ("--line-info", "-lineinfo"), "switch", "Keep source lines in PTX.", False),
    Flag("fast_math", ("--use_fast_math",), "switch", "nvcc's fast math.", False),
    Flag("without", ("--without",), "texts", "Steps to leave out, by the names of `kw passes`."),
    Flag("threshold", ("--threshold",), "texts", "Set a threshold: unroll=200."),
    Flag("clang", ("--clang",), "text", "Another clang."),
    Flag("cuda_path", ("--cuda-path",), "text", "A CUDA toolkit whose headers and libdevice are used."),
    Flag("hermetic", ("--hermetic",), "switch", "Bundled C and C++ headers and library only.", False),
    Flag("no_cache", ("--no-cache",), "switch", "Compile everything anew.", False),
)


@dataclass(frozen=True)
class CompileFlags:
    """What the flags said."""

    options: CompileOptions
    use_cache: bool

    @classmethod
    def of(cls, given: dict[str, Any]) -> CompileFlags:
        """From the values of ``COMPILE_FLAGS`` by name; takes them out of ``given``. Raises ``Misuse`` for bad values."""
        value = {flag.name: given.pop(flag.name, flag.default) for flag in COMPILE_FLAGS}
        passes = PassOptions.of(value["level"], _names(value["without"]), _thresholds(value["threshold"]))
        source = SourceOptions(
            arch=architecture(value["arch"]).name,
            include=tuple(value["include"] or ()),
            define=tuple(value["define"] or ()),
            undefine=tuple(value["undefine"] or ()),
            std=value["std"],
            fast_math=value["fast_math"],
        )
        options = CompileOptions(
            source=source,
            passes=passes,
            line_info=value["line_info"],
            clang=value["clang"],
            cuda_path=value["cuda_path"],
            hermetic=True if value["hermetic"] else None,
        )
        return cls(options, not value["no_cache"])


def _names(given: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in given or () for name in text.split(",") if name.strip())


def _thresholds(given: list[str] | None) -> dict[str, int]:
    found = {}
    for item in (item for text in given or () for item in text.split(",")):
        name, equals, value = item.partition("=")
        if not equals or not value.strip().isdigit():
            raise Misuse(f"--threshold {item!r} is not NAME=NUMBER", hint="kw passes lists the thresholds")
        found[name.strip()] = int(value)
    return found


def takes_flags(command: Callable[..., Any], own: Sequence[Flag] = ()) -> Callable[..., Any]:
    """``command`` as typer wants it: its parameter ``flags`` becomes the single compile flags, ``own`` further flags."""
    import typer

    signature = inspect.signature(command, eval_str=True)
    flag_names = {flag.name for flag in own} | {"flags"}
    parameters = [p for p in signature.parameters.values() if p.name not in flag_names and p.kind is not p.VAR_KEYWORD]
    for flag in (*own, *COMPILE_FLAGS):
        lowest, highest = (0, 3) if flag.kind == "level" else (None, None)
        option = typer.Option(*flag.spellings, help=flag.help, min=lowest, max=highest)
        annotation = cast(Any, Annotated)[_TYPES[flag.kind], option]
        parameters.append(
            inspect.Parameter(flag.name, inspect.Parameter.KEYWORD_ONLY, default=flag.default, annotation=annotation)
        )

    @functools.wraps(command)
    def with_flags(**given: Any) -> Any:
        flags = CompileFlags.of(given)
        return command(flags=flags, **given)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    with_flags.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_flags


def quick(arguments: Sequence[str], flags: Sequence[Flag]) -> tuple[list[str], dict[str, Any]] | None:
    """Positional arguments and flag values of a plain command line; None for anything that typer had better look at."""
    by_spelling = {spelling: flag for flag in flags for spelling in flag.spellings}
    values: dict[str, Any] = {flag.name: flag.default for flag in flags}
    positional: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-") or argument == "-":
            positional.append(argument)
            continue
        spelling, equals, attached = argument.partition("=")
        flag = by_spelling.get(argument) or by_spelling.get(spelling if len(spelling) > 2 else "")
        value: str | None = attached if equals and flag is not by_spelling.get(argument) else None
        if flag is None:
            flag, value = by_spelling.get(argument[:2]), argument[2:]  # -Ifolder, -DNAME=1, -O2
        if flag is None or (flag.kind == "switch" and value is not None):
            return None
        if flag.kind == "switch":
            values[flag.name] = True
            continue
        if value is None:
            value = next(rest, None)
        if not value or (flag.kind == "level" and value not in "0123"):
            return None
        if flag.kind == "texts":
            values[flag.name] = [*(values[flag.name] or ()), value]
        else:
            values[flag.name] = int(value) if flag.kind == "level" else value
    return positional, values
