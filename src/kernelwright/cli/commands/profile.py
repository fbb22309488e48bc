"""``kw profile``: where a program's kernels spend their time, estimated for a named GPU, or measured on a real one.

A virtual GPU says why a kernel takes its time, so ``auto`` is one here.
"""

from __future__ import annotations

import json
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

from kernelwright.cache import write_atomically
from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, CompileFlags, takes_flags
from kernelwright.cli.support.plain_flags import Flag, tell_flags_behind
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS, STRICT, GivenProgram, split
from kernelwright.cli.support.streams import program_speaks_on_stderr
from kernelwright.cli.support.tables import print_rows
from kernelwright.device.profiling.profile_rows import merged, profile_rows
from kernelwright.device.profiling.profiler import Profiler
from kernelwright.device.real_gpu.availability import require_gpu
from kernelwright.device.real_gpu.launch_times import merge_times
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.timing_model.evidence import trust
from kernelwright.errors import Misuse, ToolError
from kernelwright.report.advice import advice
from kernelwright.report.profile import facts, profile_page, source_line
from kernelwright.target import DEFAULT_GPU

AUTO = "auto"
OWN_FLAGS: tuple[Flag, ...] = (
    Flag("as_json", ("--json",), "switch", "The rows as JSON; the program's own output goes to standard error.", False),
    Flag("html", ("--html",), "text", "Write a self-contained page to this file."),
    STRICT,
    *PROGRAM_FLAGS,
)


def profile_files(
    paths: list[Path],
    arguments: list[str],
    *,
    flags: CompileFlags,
    as_json: bool = False,
    html: str | None = None,
    **own: Any,
) -> int:
    """What ``kw profile`` does, its flags read. Returns the program's exit code.
    Raises ``Misuse`` for --html on a real GPU, ``ToolError`` for a page that cannot be written."""
    if own.get("device", AUTO) == AUTO and not own.get("calibration"):
        own["device"] = DEFAULT_GPU
    given = GivenProgram.of(paths, arguments, flags, own)
    tell_flags_behind("profile", (*OWN_FLAGS, *COMPILE_FLAGS), given.paths, given.arguments)
    executable = given.executable()
    name = str(executable) if given.is_executable else str(given.paths[0].with_suffix(""))

    real = given.settings.real
    if real and html:
        raise Misuse(f"--html shows what a virtual GPU counts, and {real} counts nothing", hint="as --device h200")

    def serve_connection(connection: socket.socket) -> bytes:
        profiler = Profiler()
        session = serve(connection, lambda: given.settings, [profiler], finish=True, timed=bool(real))
        if real:
            return json.dumps(session.report() if session else []).encode()
        return json.dumps(profile_rows(profiler.profiled.values())).encode()

    command = [name if "/" in name else f"./{name}", *given.arguments]
    with program_speaks_on_stderr(as_json):
        ran = run_program(
            command, given.settings, serve_connection, executable=executable.absolute(), environment=given.environment()
        )
    told = [json.loads(result) for result in ran.results if result]
    if real:
        _show_measured(name, given.settings, merge_times([row for rows in told for row in rows]), as_json)
        return ran.exit_code
    rows = [{**row, "trust": trust(given.settings.gpu, row.get("terms", {})).words} for row in merged(told)]
    gpu = given.settings.gpu.label
    if html:
        try:
            made_by = f"kw {shlex.join(sys.argv[1:])}"
            write_atomically(html, profile_page(name, gpu, rows, made_by, given.settings.gpu).encode())
        except OSError as error:
            raise ToolError(f"{html} cannot be written: {error.strerror}", hint="give --html another place") from None
        print(f"kw: {html}", file=sys.stderr)
    if as_json:
        print(json.dumps({"program": name, "device": given.settings.gpu.name, "kernels": rows}, indent=1))
    elif not html:
        _print(rows, gpu)
    return ran.exit_code


def _print(rows: list[dict[str, Any]], gpu: str) -> None:
    if not rows:
        print("no kernel was launched")
        return
    total, launching = (sum(row[key] for row in rows) for key in ("time_us", "launch_us"))
    print(f"estimated for the {gpu}: {total:.4g} us in kernels, and {launching:.4g} us that launching them costs")
    print_rows([_short(row) for row in rows])
    for row in rows:
        if "trouble" in row:
            print(f"{row['kernel']}: no estimate: {row['trouble']}\n")
            continue
        if "roofline" in row:
            print(f"{row['kernel']}, a library's routine: {row['mean_us']:.3g} us a call, {row['roofline']}\n")
            continue
        print(f"{row['kernel']}, one launch:")
        for what, value in facts(row):
            print(f"    {what:30} {value}")
        print(f"    {'how far that is trusted':30} {row['trust']}")
        for sentence in advice(row):
            print(f"    {sentence}")
        classes = ", ".join(f"{name} {count:,.0f}" for name, count in row["instructions"].items())
        print(f"    {'by class':30} {classes}")
        for line in row["lines"]:
            text = source_line(line["file"], line["line"]).strip()
            print(f"    {100 * line['share']:4.0f} %  {Path(line['file']).name}:{line['line']}  {text[:90]}")
        print()


def _show_measured(program: str, settings: Settings, rows: list[dict[str, Any]], as_json: bool) -> None:
    """What a real GPU tells: times, and how many warps fit."""
    title = require_gpu(settings.ordinal).name
    if as_json:
        print(json.dumps({"program": program, "device": settings.real, "gpu": title, "kernels": rows}, indent=1))
        return
    if not rows:
        print("no kernel was launched")
        return
    print(f"measured on {settings.real}, {title}; a virtual GPU tells what limits a kernel: --device h200")
    print_rows([_short_measured(row) for row in rows])
    for row in (row for row in rows if row["late"]):
        count = f"{row['late']} of {row['launches']} launches of {row['kernel']} {'was' if row['launches'] == 1 else 'were'}"
        counted = (
            "the times have the host's in them" if row["late"] == row["launches"] else "they count as the others do"
        )
        print(f"{count} queued too late to be timed: {counted}")


def _short_measured(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "kernel": row["kernel"],
        "launches": row["launches"],
        "grid": "x".join(map(str, row["grid"])),
        "block": "x".join(map(str, row["block"])),
        "us": round(row["time_us"], 2),
        "share": f"{100 * row['share']:.0f} %",
        "mean us": round(row["mean_us"], 2),
        "least us": round(row["least_us"], 2),
        "most us": round(row["most_us"], 2),
        "registers": row["registers"],
        "occupancy": f"{100 * row['occupancy']:.0f} %",
    }


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "kernel": row["kernel"],
        "launches": row["launches"],
        "grid": "x".join(map(str, row["grid"])),
        "block": "x".join(map(str, row["block"])),
        "us in it": f"{row['time_us']:.4g}",
        "share": f"{100 * row['share']:.0f} %",
        "limited by": row.get("bound_by", "?"),
        "occupancy": f"{100 * row['occupancy']:.0f} %" if "occupancy" in row else "?",
        "SIMT": f"{100 * row['simt_efficiency']:.0f} %" if "simt_efficiency" in row else "?",
        "weights": row.get("sources", {}).get("weights", "?"),
    }


def __getattr__(name: str) -> Any:
    """``command`` is made on demand, as its siblings are."""
    if name != "command":
        raise AttributeError(name)
    from typing import Annotated

    import typer

    def command(sources: list[Path], flags: CompileFlags, **own: Any) -> int:
        """Where a program's kernels spend their time, line by line: kw profile app.cu -- ARGUMENTS."""
        _, behind = split(sys.argv)
        return profile_files(sources[: len(sources) - len(behind)], behind, flags=flags, **own)

    command.__annotations__["sources"] = Annotated[
        list[Path], typer.Argument(help="CUDA, C and C++ files, or a program that kw compile made; -- ARGUMENTS.")
    ]
    return takes_flags(command, OWN_FLAGS)
