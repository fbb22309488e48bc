"""``kw capture``: run a CUDA program and record every kernel launch, with the memory before and after, in one file."""

from __future__ import annotations

import json
import os
import socket
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kernelwright.cli.support.compile_flags import COMPILE_FLAGS, CompileFlags, takes_flags
from kernelwright.cli.support.plain_flags import Flag, tell_flags_behind
from kernelwright.cli.support.program_arguments import PROGRAM_FLAGS, STRICT, GivenProgram, split
from kernelwright.cli.support.streams import program_speaks_on_stderr
from kernelwright.device.serving.run_program import Ran, run_program
from kernelwright.device.serving.worker import serve
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.capture.capture import Capture, ProgramIdentity
from kernelwright.evaluate.capture.session_recorder import Recorder
from kernelwright.evaluate.capture.writer import end_capture

OWN_FLAGS: tuple[Flag, ...] = (
    Flag("output", ("-o", "--output"), "text", "The recording; default the program's name with .capture."),
    Flag("as_json", ("--json",), "switch", "One JSON object; the program's own output goes to standard error.", False),
    STRICT,
    *PROGRAM_FLAGS,
)


def capture_files(
    paths: list[Path],
    arguments: list[str],
    *,
    flags: CompileFlags,
    output: str | None = None,
    as_json: bool = False,
    **own: Any,
) -> int:
    """What ``kw capture`` does, its flags read. Returns the program's exit code, 1 when it launched no kernel."""
    given = GivenProgram.of(paths, arguments, flags, own, virtual_for="kw capture")
    tell_flags_behind("capture", (*OWN_FLAGS, *COMPILE_FLAGS), given.paths, given.arguments)
    target = Path(output) if output else Path(given.paths[0].with_suffix(".capture").name)
    _check_target(target, given)
    executable = given.executable()
    name = str(executable) if given.is_executable else str(given.paths[0].with_suffix(""))
    command = [name if "/" in name else f"./{name}", *given.arguments]
    from kernelwright import __version__

    identity = ProgramIdentity(tuple(command), os.getcwd(), given.settings.gpu.name, {"kernelwright": __version__})

    def serve_connection(connection: socket.socket) -> bytes:
        part = target.with_name(f".{target.name}.{os.getpid()}")
        recorder = Recorder(part, identity)
        serve(connection, lambda: given.settings, [recorder], finish=True)
        told = {"part": str(part), "launches": recorder.launches, "kernels": recorder.kernels}
        return json.dumps(told | {"cut": recorder.is_cut_short}).encode()

    files = _files_here()
    try:
        with program_speaks_on_stderr(as_json):
            ran = run_program(
                command,
                given.settings,
                serve_connection,
                executable=executable.absolute(),
                environment=given.environment(),
            )
        code, recorded = _finish(target, ran, _hashes(files, target))
        if as_json:
            print(json.dumps({"captures": recorded, "exit_code": ran.exit_code}))
        return code
    finally:
        for part in target.parent.glob(f".{target.name}.*"):
            part.unlink(missing_ok=True)


def _check_target(target: Path, given: GivenProgram) -> None:
    if target.is_dir():
        raise Misuse(f"{target} is a folder", hint="name a file: -o app.capture")
    if not target.parent.is_dir():
        raise Misuse(f"there is no folder {target.parent}", hint="make it first, or name another file")
    if not os.access(target.parent, os.W_OK):
        raise Misuse(f"{target} cannot be written", hint="name a file in another folder: -o FILE")
    if any(target.resolve() == path.resolve() for path in given.paths):
        raise Misuse(f"-o {target} would overwrite the program itself", hint="name another file: -o app.capture")


def _finish(target: Path, ran: Ran, outputs: dict[str, str]) -> tuple[int, list[dict[str, Any]]]:
    """Gives the recordings their names: one per process of the program that launched kernels. The exit code, and a row for each."""
    told = [json.loads(result) for result in ran.results if result]
    cut = [one for one in told if one["cut"]]  # the disk was full; what came before is kept below
    told = [one for one in told if not one["cut"]]
    recorded = [one for one in told if one["launches"]]
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(recorded):
        path = _numbered(target, number)
        if not ran.interrupted:
            end_capture(Path(one["part"]), ran.exit_code, outputs)
        os.replace(one["part"], path)
        kernels, size = len(one["kernels"]), path.stat().st_size
        rows.append({"file": str(path), "launches": one["launches"], "kernels": kernels, "bytes": size})
        print(
            f"kw: {one['launches']} launch{'' if one['launches'] == 1 else 'es'} of {kernels} "
            f"kernel{'' if kernels == 1 else 's'} in {path} ({size:,} bytes)",
            file=sys.stderr,
        )
    rest = _save_rest(target, len(recorded), {one["part"] for one in told})
    if rest or len(told) < len(ran.results):
        return ran.exit_code if ran.interrupted else 3, rows
    if cut:
        print(f"kw: the recording could not be written to its end\nnext: make room in {target.parent}", file=sys.stderr)
        return 3, rows
    if not recorded:
        print("kw: the program launched no kernel that came to its end: there is nothing to record", file=sys.stderr)
        return ran.exit_code or 1, rows
    return ran.exit_code, rows


def _save_rest(target: Path, number: int, whole: set[str]) -> int:
    """Device workers that were ended leave recordings that are cut short; those with launches are kept. How many."""
    kept = 0
    for part in sorted(target.parent.glob(f".{target.name}.*")):
        try:
            with Capture.read(part, partial=True) as capture:
                launches = len(capture.launches)
        except KernelwrightError:
            continue
        if launches and str(part) not in whole:
            path = _numbered(target, number + kept)
            os.replace(part, path)
            kept += 1
            print(f"kw: cut short after {launches} launches: {path}, for kw replay --partial", file=sys.stderr)
    return kept


def _numbered(target: Path, number: int) -> Path:
    """The name of the first, second, ... recording of one run."""
    return target if number == 0 else target.with_name(f"{target.stem}.{number + 1}{target.suffix}")


def _files_here() -> dict[str, tuple[int, int]]:
    """The files of the working folder, with size and time of change."""
    found = {}
    for entry in os.scandir():
        if entry.is_file():
            stat = entry.stat()
            found[entry.name] = (stat.st_size, stat.st_mtime_ns)
    return found


def _hashes(before: dict[str, tuple[int, int]], target: Path) -> dict[str, str]:
    """The files of the working folder that came or changed since, with a hash of what is in them."""
    changed = [name for name, state in _files_here().items() if before.get(name) != state]
    own = [name for name in changed if not name.startswith(f".{target.name}.") and name != target.name]
    return {name: blake2b(Path(name).read_bytes(), digest_size=16).hexdigest() for name in sorted(own)}


def __getattr__(name: str) -> Any:
    """``command`` is made on demand: making it imports typer."""
    if name != "command":
        raise AttributeError(name)
    from typing import Annotated

    import typer

    def command(sources: list[Path], flags: CompileFlags, **own: Any) -> int:
        """Record every kernel launch of a CUDA program into one file: kw capture app.cu -o app.capture -- ARGUMENTS."""
        _, behind = split(sys.argv)
        before = sources[: len(sources) - len(behind)]
        return capture_files(before, behind, flags=flags, **own)

    command.__annotations__["sources"] = Annotated[
        list[Path], typer.Argument(help="CUDA, C and C++ files, or a program that kw compile made; -- ARGUMENTS.")
    ]
    return takes_flags(command, OWN_FLAGS)
