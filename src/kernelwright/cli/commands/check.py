"""``kw check``: run a CUDA program and find what it does wrong, without a GPU."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelwright.cli.support.compile_flags import CompileFlags, takes_flags
from kernelwright.cli.support.plain_flags import Flag
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS, GivenProgram, split
from kernelwright.device.checking.checker import Checker
from kernelwright.device.checking.findings import HINTS, CheckFinding, Findings, unpack
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.element_types import parameter_types

OWN_FLAGS: tuple[Flag, ...] = (
    Flag(
        "schedules",
        ("--schedules",),
        "text",
        "Run each launch again in this many other orders of blocks, warps and lanes.",
    ),
    Flag("seed", ("--seed",), "text", "Seed of those orders; default 0."),
    Flag(
        "as_json",
        ("--json",),
        "switch",
        "Findings as JSON on standard output; the program's goes to standard error.",
        False,
    ),
    *PROGRAM_FLAGS,
)
MOST_SCHEDULES = 1000


def check_files(
    paths: list[Path],
    arguments: list[str],
    *,
    flags: CompileFlags,
    schedules: str | None = None,
    seed: str | None = None,
    as_json: bool = False,
    **own: Any,
) -> int:
    """What ``kw check`` does, its flags read. Returns 1 when there are findings, 0 when there are none."""
    given = GivenProgram.of(paths, arguments, flags, own, virtual_for="kw check")
    orders, first = _number("--schedules", schedules, MOST_SCHEDULES), _number("--seed", seed, 1 << 62)
    executable = given.executable(lambda said: print(f"kw: {said}", file=sys.stderr))
    name = str(executable) if given.is_executable else str(given.paths[0].with_suffix(""))

    def serve_connection(connection: socket.socket) -> bytes:
        checker = Checker(orders, first, parameter_types)
        if serve(connection, lambda: given.settings, [checker], finish=True) is None:
            return b""
        return json.dumps(
            {
                "launches": checker.launches,
                "incomplete": checker.incomplete,
                "findings": [one.pack() for one in checker.findings],
            }
        ).encode()

    command = [name if "/" in name else f"./{name}", *given.arguments]
    with _program_speaks_on_stderr() if as_json else _nothing():
        ran = run_program(command, given.settings, serve_connection, executable=executable.absolute())
    if ran.interrupted:
        print("kw: interrupted, so nothing can be said; smaller inputs check sooner", file=sys.stderr)
        return ran.exit_code
    told = [json.loads(result) for result in ran.results if result]
    findings = Findings(unpack(row) for worker in told for row in worker["findings"])
    if as_json:
        rows = {"findings": [one.as_json() for one in findings.defects]}
        if findings.notes:
            rows["notes"] = [one.as_json() for one in findings.notes]
        print(json.dumps(rows, indent=1))
    else:
        _print_findings(findings, sum(worker["launches"] for worker in told), orders, first)
    for kernel in sorted({kernel for worker in told for kernel in worker["incomplete"]}):
        print(
            f"kw: {kernel} does more than is followed, with memory or with atomics; part of it was not checked",
            file=sys.stderr,
        )
    if len(told) < len(ran.results):
        print("kw: a device worker did not start or ended early, so the check is not complete", file=sys.stderr)
        return 3
    if ran.exit_code:
        print(f"kw: the program ended with exit code {ran.exit_code}", file=sys.stderr)
    return 1 if findings.defects else 0


def _number(flag: str, text: str | None, most: int) -> int:
    if text is None:
        return 0
    if not text.isdigit() or int(text) > most:
        raise Misuse(f"{flag} {text} is no number from 0 to {most}", hint=f"as {flag} 8")
    return int(text)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _program_speaks_on_stderr() -> Iterator[None]:
    """Within, processes that are started find our standard error as their standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _print_findings(findings: Findings, launches: int, orders: int, seed: int) -> None:
    """On standard error: standard output is the program's."""
    for one in findings.defects:
        print(f"kw: {_told(one)}", file=sys.stderr)
    for one in findings.notes:
        print(f"kw: note: {_told(one)}", file=sys.stderr)
    count = len(findings.defects)
    found = f"{count} finding{'' if count == 1 else 's'}" if count else "nothing found"
    notes = f" ({len(findings.notes)} benign)" if findings.notes else ""
    tried = f", each in {orders} other orders (seed {seed})" if orders else ""
    print(f"kw: {found}{notes} in {launches} launch{'' if launches == 1 else 'es'}{tried}", file=sys.stderr)


def _told(one: CheckFinding) -> str:
    """A finding in a few lines: where and what, who, the other end, the source line, what helps."""
    place = f"{one.file}:{one.line}: " if one.line else ""
    lines = [f"{place}{one.kind}: {one.message}" + (f" ({one.count} times)" if one.count > 1 else "")]
    who = [f"kernel {one.kernel}"] if one.kernel else []
    if one.block is not None and one.thread is not None:
        who += [f"block {one.block}", f"thread {one.thread}"]
    if one.buffer:
        who.append(f"memory {one.buffer}" + (f" at {one.address:#x}" if one.address else ""))
    if who:
        lines.append(", ".join(who))
    lines.append(_source_line(one.file, one.line))
    if one.also is not None:
        ends = f", block {one.also.block}, thread {one.also.thread}" if one.also.thread else ""
        lines.append(f"the other end: {one.also.file}:{one.also.line}{ends}")
        lines.append(_source_line(one.also.file, one.also.line))
    lines.append(f"what helps: {HINTS[one.hint]}")
    return "\n    ".join(line for line in lines if line)


def _source_line(file: str, line: int) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            text = next((text.strip() for number, text in enumerate(source, 1) if number == line), "")
    except OSError:
        return ""
    return f"  {line} | {text}" if text else ""


def __getattr__(name: str) -> Any:
    """``command`` is made on demand: making it imports typer."""
    if name != "command":
        raise AttributeError(name)
    from typing import Annotated

    import typer

    def command(sources: list[Path], flags: CompileFlags, **own: Any) -> int:
        """Find races, bad accesses, unwritten memory and missing waits in a CUDA program: kw check app.cu -- ARGUMENTS."""
        _, behind = split(sys.argv)
        before = sources[: len(sources) - len(behind)]
        return check_files(before, behind, flags=flags, **own)

    command.__annotations__["sources"] = Annotated[
        list[Path], typer.Argument(help="CUDA, C and C++ files, or a program that kw compile made; -- ARGUMENTS.")
    ]
    return takes_flags(command, OWN_FLAGS)
