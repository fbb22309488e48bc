"""``kw run``: compile a CUDA program and run it, GPU or not."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, WITH, CompileFlags, takes_flags
from kernelwright.cli.support.error_exit import guarded, leave_at_once
from kernelwright.cli.support.plain_flags import Flag, quick, tell_flags_behind
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS, STRICT, GivenProgram, split
from kernelwright.cli.support.streams import program_speaks_on_stderr
from kernelwright.cli.support.winners_view import NONE, given_versions, print_valid_for, print_versions
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.versions.table import merged

OWN_FLAGS: tuple[Flag, ...] = (
    Flag("report", ("--report",), "switch", "At the end, what each kernel did: launches and time.", False),
    Flag(
        "as_json", ("--json",), "switch", "The report as JSON; the program's own output goes to standard error.", False
    ),
    WITH,
    STRICT,
    *PROGRAM_FLAGS,
)

FIGURES = ("launches", "time_us", "launch_us", "seconds", "faults")


def run_quickly(arguments: list[str]) -> None:
    """Runs a plain command line and exits; returns when typer had better look at it."""
    read = read_line(arguments)
    if read is not None:
        guarded(read, leave=leave_at_once)


def read_line(arguments: list[str]) -> Callable[[], int] | None:
    """What a plain command line asks for, to be called for its exit code; None when typer had better look at it."""
    before, behind = split(arguments)
    found = quick(before, (*OWN_FLAGS, *COMPILE_FLAGS))
    if found is None or not found[0]:
        return None
    sources, values = found

    def run() -> int:
        flags = CompileFlags.of(values)
        sys.stderr.write(flags.remarks)
        return run_files([Path(s) for s in sources], behind, flags=flags, **values)

    return run


def run_files(
    paths: list[Path],
    arguments: list[str],
    *,
    flags: CompileFlags,
    report: bool = False,
    as_json: bool = False,
    winners: list[str] | None = None,
    **own: Any,
) -> int:
    """What ``kw run`` does, its flags read. Returns the exit code: the program's own, 128 and more for a signal."""
    given = GivenProgram.of(paths, arguments, flags, own)
    tell_flags_behind("run", (*OWN_FLAGS, *COMPILE_FLAGS), given.paths, given.arguments)
    versions = None if winners == [NONE] else given_versions(winners or ())
    executable = given.executable()
    name = str(executable) if given.is_executable else str(given.paths[0].with_suffix(""))

    def serve_connection(connection: socket.socket) -> bytes:
        timed = report or as_json or bool(versions)
        session = serve(connection, lambda: given.settings, finish=timed, timed=timed, versions=versions)
        said = {"kernels": session.report(), "versions": session.versions()} if session else {}
        return json.dumps(said).encode()

    command = [name if "/" in name else f"./{name}", *given.arguments]
    with program_speaks_on_stderr(as_json):
        ran = run_program(
            command,
            given.settings,
            serve_connection,
            executable=executable.absolute(),
            environment=given.environment(winners or ()),
        )
    if ran.signal and not ran.interrupted:
        print(f"kw: {name} was ended by {signal.Signals(ran.signal).name}", file=sys.stderr)
    results = [json.loads(result) for result in ran.results if result]
    kernels = _summed([row for result in results for row in result.get("kernels", ())])
    if report and not as_json:
        _print_report(kernels, given.settings)
    if as_json:
        rows = merged(result.get("versions", []) for result in results)
        device = given.settings.real or given.settings.gpu.name
        made = {"program": name, "device": device, "exit_code": ran.exit_code, "kernels": kernels, "versions": rows}
        print(json.dumps(made))
    elif versions or report:
        rows = merged(result.get("versions", []) for result in results)
        if rows or versions:
            print_versions(rows, given.settings)
            launched = {row["mangled"] for row in rows}
            print_valid_for([version for version in versions or () if version.kernel in launched])
    return ran.exit_code


def _summed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per kernel, of all processes of the program. Times in microseconds, ``seconds`` those that it ran here."""
    rows: dict[str, Counter[str]] = {}
    for row in found:
        kept = rows.setdefault(row["kernel"], Counter())
        kept.update({name: row.get(name, 0) for name in FIGURES})
    return [{"kernel": kernel, **{name: figures[name] for name in FIGURES}} for kernel, figures in rows.items()]


def _print_report(rows: list[dict[str, Any]], settings: Settings) -> None:
    """One line per kernel, on standard error: standard output is the program's."""
    if not rows:
        print("kw: no kernel was launched", file=sys.stderr)
        return
    gpu = settings.real or f"the {settings.gpu.label}"
    here = "" if settings.real else "   seconds here"
    heading = f"us on {gpu}" if settings.real else f"us in it on {gpu}   us launching it"
    width = len(heading.split("   ")[0])
    print(f"kw: launches   {heading}{here}   kernel", file=sys.stderr)
    for figures in rows:
        kernel = figures["kernel"]
        time = f"{figures['time_us']:{'.1f' if settings.real else '.4g'}}" if figures["time_us"] else "-"
        launching = "" if settings.real else f"   {figures['launch_us']:15.4g}"
        seconds = "" if settings.real else f"   {figures['seconds']:12.3f}"
        fault = "   (faulted)" if figures["faults"] else ""
        print(f"kw: {figures['launches']:8}   {time:>{width}}{launching}{seconds}   {kernel}{fault}", file=sys.stderr)


def __getattr__(name: str) -> Any:
    """``command`` is made on demand: making it imports typer, which a quick run has no need of."""
    if name != "command":
        raise AttributeError(name)
    from typing import Annotated

    import typer

    def command(sources: list[Path], flags: CompileFlags, **own: Any) -> int:
        """Compile a CUDA program and run it, GPU or not: kw run app.cu -- ARGUMENTS. Its exit code is the program's."""
        _, behind = split(sys.argv)
        before = sources[: len(sources) - len(behind)]
        return run_files(before, behind, flags=flags, **own)

    command.__annotations__["sources"] = Annotated[
        list[Path], typer.Argument(help="CUDA, C and C++ files, or a program that kw compile made; -- ARGUMENTS.")
    ]
    return takes_flags(command, OWN_FLAGS)
