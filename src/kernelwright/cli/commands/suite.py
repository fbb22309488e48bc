"""``kw suite``: the programs that ship with the package, and one of them at every stage of the compiler."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelwright.cli.support.compile_flags import CompileFlags, takes_flags
from kernelwright.cli.support.tables import print_rows
from kernelwright.device.describe_access import plural
from kernelwright.errors import Misuse, ToolError
from kernelwright.pipeline import Unit
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import APPLICATIONS, NAMES, SIZES, load

EXCERPT = 14
"""Lines shown of each stage."""

ACTIONS = ("list", "show", "generate")


@takes_flags
def command(
    flags: CompileFlags,
    action: Annotated[str, typer.Argument(help="list, show NAME, or generate NAME FOLDER.")] = "list",
    name: Annotated[str | None, typer.Argument(help="A program's name.")] = None,
    folder: Annotated[Path | None, typer.Argument(help="Where to write inputs (generate).")] = None,
    size: Annotated[str, typer.Option(help=f"Size of the inputs: {', '.join(SIZES)}.")] = "small",
    seed: Annotated[int, typer.Option(help="Seed of the inputs.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """The CUDA programs that ship with the package: list them, show one at every stage, or write its inputs."""
    if action not in ACTIONS:
        raise Misuse(
            f"kw suite has no {action!r}", hint="kw suite, kw suite show NAME, or kw suite generate NAME FOLDER"
        )
    if action == "list":
        rows = [
            {"name": n, "title": (p := load(n)).title, "files": len(p.sources), "summary": p.summary}
            for n in (*NAMES, *APPLICATIONS)
        ]
        if as_json:
            print(json.dumps(rows))
        else:
            print_rows(rows)
        return
    if name is None:
        raise Misuse(f"kw suite {action} wants the name of a program", hint=f"one of {', '.join(NAMES)}")
    if action == "generate":
        _generate(name, folder, size, seed)
    else:
        _show(name, flags, as_json)


def _generate(name: str, folder: Path | None, size: str, seed: int) -> None:
    if folder is None:
        raise Misuse("kw suite generate wants a folder", hint=f"kw suite generate {name} FOLDER")
    if seed < 0:
        raise Misuse(f"--seed {seed} is negative", hint="seeds are numbers from 0 up")
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"{folder} is not a folder", hint=f"kw suite generate {name} FOLDER")
    found = next((s for s in SIZES if s == size), None)
    if found is None:
        raise Misuse(f"there is no size {size!r}", hint=f"the sizes are {', '.join(SIZES)}")
    program = load(name)
    folder.mkdir(parents=True, exist_ok=True)
    there_before = set(folder.iterdir())
    try:
        arguments = program.generate(folder, found, seed)
    except BaseException as error:
        for path in set(folder.iterdir()) - there_before:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # NumPy says how many numbers it could not write, the system says why.
            why = error.strerror or "is the disk full?"
            raise ToolError(f"the inputs cannot be written to {folder}: {why}", hint="free some space") from None
        raise
    print(" ".join(arguments))


def _show(name: str, flags: CompileFlags, as_json: bool) -> None:
    """Compiles a program and prints, for its first kernel, what every stage made of it."""
    program = load(name)
    cuda = [path for path in program.source_paths if path.suffix == ".cu"]
    begin = time.perf_counter()
    built = compile_program(list(cuda), options=flags.options, cache=flags.use_cache)
    front_end = time.perf_counter() - begin
    unit = next(u for u in built.units if "ptx_kernel" in u.source.text)
    kernel = _first_kernel(unit.source.text)
    rows: list[dict[str, Any]] = []
    excerpts: list[tuple[str, list[str]]] = [(f"source  {unit.path.name}", _source_excerpt(unit, kernel))]
    for stage in ("frontend", "optimise", "ptx", "cubin"):
        started = time.perf_counter()
        result = unit.stage(stage)
        text = result if isinstance(result, str) else ""
        body = _kernel_body(text, kernel)
        rows.append(
            {
                "stage": stage,
                "ms": round(1000 * (front_end if stage == "frontend" else time.perf_counter() - started), 1),
                "bytes": len(result),
                f"instructions of {_readable(kernel)}": sum(_is_instruction(line) for line in body) if body else None,
            }
        )
        if body:
            excerpts.append((stage, body))
    resources = built.resources(kernel)
    if as_json:
        print(json.dumps({"program": name, "kernel": kernel, "stages": rows, "resources": vars(resources)}))
        return
    for title, lines in excerpts:
        print(f"── {title} " + "─" * max(4, 90 - len(title)))
        print("\n".join(line[:150] for line in lines[:EXCERPT]))
        if len(lines) > EXCERPT:
            print(f"   … {len(lines) - EXCERPT} more lines")
        print()
    print_rows(rows)
    print(f"{_readable(kernel)} on {flags.options.source.arch}: {resources}")
    print(
        f"{name}: {plural(len(built.kernels), 'kernel')} in {plural(len(built.units), 'file')}, "
        f"{1000 * (time.perf_counter() - begin):.0f} ms in all"
    )


def _first_kernel(text: str) -> str:
    found = re.search(r"^define .*\bptx_kernel\b.* @([\w.$]+)\(", text, re.M)
    return found.group(1) if found else ""


def _readable(kernel: str) -> str:
    found = re.match(r"_Z(\d+)", kernel)
    return kernel[found.end() : found.end() + int(found.group(1))] if found else kernel


def _source_excerpt(unit: Unit, kernel: str) -> list[str]:
    """The kernel's source from its ``__global__`` on, to the closing brace in the first column."""
    lines = unit.path.read_text().splitlines()
    name = _readable(kernel)
    start = next((n for n, line in enumerate(lines) if "__global__" in line and name in "".join(lines[n : n + 3])), 0)
    end = next((n for n in range(start, len(lines)) if lines[n].startswith("}")), len(lines) - 1)
    return lines[start : end + 1]


def _kernel_body(text: str, kernel: str) -> list[str]:
    """The lines of one kernel in IR or PTX text."""
    lines = text.splitlines()
    opening = re.compile(rf"^(define .*|.*\.entry\s+)@?{re.escape(kernel)}\(")
    start = next((n for n, line in enumerate(lines) if opening.search(line)), None)
    if start is None:
        return []
    end = next((n for n in range(start, len(lines)) if lines[n].startswith("}")), len(lines) - 1)
    return [line for line in lines[start : end + 1] if line.strip()]


def _is_instruction(line: str) -> bool:
    """A line of IR or PTX that is an instruction, not a label, directive, comment or brace."""
    text = line.strip()
    return (
        line[:1] in (" ", "\t")
        and not text.startswith((";", "//", ".", "$", "#", ")", "{", "}"))
        and not text.endswith(":")
    )
