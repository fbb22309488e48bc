"""``kw check``: run a CUDA program and find what it does wrong, without a GPU."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from kernelwright import __version__
from kernelwright.cache import is_special, write_atomically
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, CompileFlags, takes_flags
from kernelwright.cli.support.plain_flags import Flag, tell_flags_behind
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS, GivenProgram, split
from kernelwright.cli.support.streams import program_speaks_on_stderr
from kernelwright.device.checking.check_report import CheckReport
from kernelwright.device.checking.checker import Checker
from kernelwright.device.checking.findings import Findings, unpack
from kernelwright.device.checking.host_lines import LINES_FLAG
from kernelwright.device.checking.junit import junit
from kernelwright.device.checking.reordering import schedules as in_orders
from kernelwright.device.checking.sarif import sarif
from kernelwright.device.checking.suppressions import read_suppressions
from kernelwright.device.checking.whole_runs import gives_the_same
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.errors import Misuse, ToolError
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
        "strict",
        ("--strict",),
        "switch",
        "Races whose values happened to be the same this time are findings in global memory, too.",
        False,
    ),
    Flag(
        "as_json",
        ("--json",),
        "switch",
        "Findings as JSON on standard output; the program's goes to standard error.",
        False,
    ),
    Flag("sarif_file", ("--sarif",), "text", "Findings as SARIF 2.1.0, for code scanning, in this file."),
    Flag("junit_file", ("--junit",), "text", "Findings as JUnit XML, a test case for each class, in this file."),
    Flag(
        "suppressions",
        ("--suppressions",),
        "text",
        "TOML file of findings that may stand, by class, file and line, each with a reason.",
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
    strict: bool = False,
    as_json: bool = False,
    sarif_file: str | None = None,
    junit_file: str | None = None,
    suppressions: str | None = None,
    **own: Any,
) -> int:
    """What ``kw check`` does, its flags read. Returns 0 when nothing is found, 1 for findings, 3 when not all was seen.

    Raises ``Misuse`` for bad flags and suppressions, ``ToolError`` for a file that cannot be written.
    """
    given = GivenProgram.of(paths, arguments, flags.with_host(LINES_FLAG), own, virtual_for="kw check")
    tell_flags_behind("check", (*OWN_FLAGS, *COMPILE_FLAGS), given.paths, given.arguments)
    orders, first = _number("--schedules", schedules, MOST_SCHEDULES), _number("--seed", seed, 1 << 62)
    let_stand = read_suppressions(Path(suppressions)) if suppressions else ()
    _make_room(sarif_file, junit_file)
    executable = given.executable()
    name = str(executable) if given.is_executable else str(given.paths[0].with_suffix(""))

    def serve_connection(connection: socket.socket) -> bytes:
        checker = Checker(orders, first, parameter_types, strict)
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
    with program_speaks_on_stderr(as_json):
        ran = run_program(
            command, given.settings, serve_connection, executable=executable.absolute(), environment=given.environment()
        )
    if ran.interrupted:
        print("kw: interrupted, so nothing can be said; smaller inputs check sooner", file=sys.stderr)
        return ran.exit_code
    told = [json.loads(result) for result in ran.results if result]
    findings = [unpack(row) for worker in told for row in worker["findings"]]
    if any(one.permuted for one in findings) and gives_the_same(
        command, given.settings, in_orders(orders, first), executable.absolute(), given.environment()
    ):
        findings = [one.excused() if one.permuted else one for one in findings]
    report = CheckReport.of(
        str(given.paths[0]),
        Findings(findings),
        let_stand,
        launches=sum(worker["launches"] for worker in told),
        schedules=orders,
        incomplete=sorted({kernel for worker in told for kernel in worker["incomplete"]}),
        is_whole=len(told) == len(ran.results),
    )
    if sarif_file:
        _write(sarif_file, "--sarif", sarif(report, __version__, os.getcwd()))
    if junit_file:
        _write(junit_file, "--junit", junit(report))
    if as_json:
        print(json.dumps(report.as_json(), indent=1))
    else:
        _print_report(report, f", each in {orders} other orders (seed {first})" if orders else "")
    for remark in report.remarks():
        print(f"kw: {remark}", file=sys.stderr)
    if ran.exit_code and report.is_whole:
        print(f"kw: the program ended with exit code {ran.exit_code}", file=sys.stderr)
    return report.exit_code


def _make_room(sarif_file: str | None, junit_file: str | None) -> None:
    """Looks whether the files can be written before the program runs, and removes old ones: a check that ends early must not
    leave another's result."""
    if sarif_file and junit_file and os.path.realpath(sarif_file) == os.path.realpath(junit_file):
        raise Misuse(f"--sarif and --junit both name {sarif_file}", hint="give each a file of its own")
    for flag, file in (("--sarif", sarif_file), ("--junit", junit_file)):
        if file and not is_special(file):
            _write(file, flag, "")
            os.unlink(os.path.realpath(file))


def _write(file: str, flag: str, text: str) -> None:
    try:
        write_atomically(file, text.encode())
    except OSError as error:
        raise ToolError(f"{file} cannot be written: {error.strerror}", hint=f"give {flag} another place") from None


def _number(flag: str, text: str | None, most: int) -> int:
    if text is None:
        return 0
    if not text.isdigit() or int(text) > most:
        raise Misuse(f"{flag} {text} is no number from 0 to {most}", hint=f"as {flag} 8")
    return int(text)


def _print_report(report: CheckReport, tried: str) -> None:
    """On standard error: standard output is the program's."""
    said = [one.described() for one in report.defects]
    said += [f"note: {one.described()}" for one in report.notes]
    said += [f"suppressed: {one.place or one.message}: {one.kind}: {by.reason}" for one, by in report.suppressed]
    for text in [*said, f"{report.summary()}{tried}"]:
        print(f"kw: {text}", file=sys.stderr)


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
