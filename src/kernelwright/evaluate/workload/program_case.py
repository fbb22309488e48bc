"""A case that is a whole program: its command line, a folder of inputs, and the files it leaves behind.

The program runs in a fresh copy of the folder, in a session of its own that is ended as a whole when time is up. Its outputs
become arrays, by a *reader*:

    "float32", "<i4", ...      the file's bytes as elements of this NumPy type
    "bytes"                    the bytes
    "text"                     a text file: its numbers, and apart from them its words
    "module:function"          a function of the path that returns an array

``stdout`` is an output like any other.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.cache import content_key, file_digest
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.lazy_dataclasses import dataclass

STDOUT = "stdout"
WORDS = " (words)"
"""What follows a text's name where its words are meant, without its numbers."""
TIMEOUT_S = 300.0

Reader = str | Callable[[Path], NDArray[Any]]

# A number that stands alone; those inside names and versions (x86, v1.2.3) are part of a word.
_NUMBER = re.compile(
    r"(?<![\w.+-])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|(?<!\w)[-+]?(?i:nan|inf(?:inity)?)(?!\w)"
)


@dataclass(frozen=True)
class ProgramRun:
    """What one run of a program left."""

    arrays: Arrays
    seconds: float
    """Wall time of the whole process."""


@dataclass(frozen=True, eq=False)
class ProgramCase:
    """One run of a program. ``argv[0]`` may be relative to the caller's folder; the rest is as the program sees it.

    ``folder`` holds the inputs and is never changed; None is an empty one. ``outputs`` maps each file the program writes
    there to its reader. ``expected``: the outputs as they should be, where they are known without running the original.
    """

    argv: tuple[str, ...]
    outputs: Mapping[str, Reader]
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = TIMEOUT_S
    exit_code: int = 0
    name: str = ""
    expected: Callable[[], Arrays] | None = None

    def __post_init__(self) -> None:
        if not self.argv:
            raise Misuse("a program needs a command line", hint="argv=('./app', 'input.txt')")
        if not self.outputs:
            raise Misuse(
                f"nothing says what {self.argv[0]} computes", hint="outputs={'result.bin': 'float32'}, or 'stdout'"
            )
        if self.folder is not None and not Path(self.folder).is_dir():
            raise Misuse(f"{self.folder} is no folder", hint="name the folder that holds the program's inputs")
        for reader in self.outputs.values():
            reader_of(reader)

    def run(self, environment: Mapping[str, str] | None = None) -> ProgramRun | Rejected:
        """Runs the program; ``environment`` comes on top of the case's and this process's own."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as temporary:
            folder = Path(temporary) / "run"
            if self.folder is None:
                folder.mkdir()
            else:
                shutil.copytree(self.folder, folder, symlinks=True)
                for output in self.outputs:  # One that lies there already would be taken for this run's.
                    (folder / output).unlink(missing_ok=True)
            return self._run_in(folder, Path(temporary), {**os.environ, **self.environment, **(environment or {})})

    def _run_in(self, folder: Path, beside: Path, environment: Mapping[str, str]) -> ProgramRun | Rejected:
        said, complained = beside / STDOUT, beside / "stderr"
        program = self.argv[0]
        command = [str(Path(program).absolute()) if "/" in program else program, *self.argv[1:]]
        begin = time.perf_counter()
        try:
            with said.open("wb") as out, complained.open("wb") as err:
                process = subprocess.Popen(
                    command, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise Misuse(f"{program} cannot be run: {error.strerror}", hint="give the path of an executable") from error
        try:
            code = process.wait(self.timeout_s)
        except subprocess.TimeoutExpired:
            return Rejected("timeout", f"the program was still running after {self.timeout_s:g} s")
        finally:
            # Also after a proper end, and when we are interrupted: nothing it started outlives it.
            end_session(process)
        seconds = time.perf_counter() - begin
        if code != self.exit_code:
            return Rejected("crash" if code < 0 else "program", how_it_ended(code, complained, said))
        return self._read(folder, said, seconds)

    def _read(self, folder: Path, said: Path, seconds: float) -> ProgramRun | Rejected:
        arrays: Arrays = {}
        for name, reader in self.outputs.items():
            path = said if name == STDOUT else folder / name
            if not path.is_file():
                return Rejected("program", f"it wrote no {name}")
            try:
                arrays |= reader_of(reader)(name, path)
            except Exception as error:  # A reader may meet anything in a file that a candidate wrote.
                return Rejected("program", f"its output {name} cannot be read: {type(error).__name__}: {error}")
        return ProgramRun(arrays, seconds)

    def fingerprint(self) -> str:
        """A hash of the command line, the program, its input files, and what is read of its outputs."""
        parts = [*self.argv, file_digest(self.argv[0]) or "", *(f"{n}={r!r}" for n, r in self.outputs.items())]
        parts += [f"{key}={value}" for key, value in sorted(self.environment.items())]
        for path in sorted(Path(self.folder).rglob("*")) if self.folder else ():
            if path.is_file():
                parts += [str(path.relative_to(self.folder or "")), file_digest(str(path)) or ""]
        return content_key(parts)


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that leads a session, and everything in that session's group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def how_it_ended(code: int, complained: Path, said: Path) -> str:
    """How a program failed, in a sentence with the last line of what it said. Indented lines belong to one before them."""
    how = f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"
    for path in (complained, said):
        lines = path.read_bytes()[-4000:].decode(errors="replace").strip().splitlines()
        if lines:
            last = next((line for line in reversed(lines) if line and not line[0].isspace()), lines[-1])
            return f"{how}: {last[:300]}"
    return f"{how} and said nothing"


# -- readers -----------------------------------------------------------------------------------------------------------


def reader_of(reader: Reader) -> Callable[[str, Path], Arrays]:
    """The function of (name, path) behind a reader. Raises ``Misuse`` for an unknown one."""
    if not isinstance(reader, str):
        return lambda name, path: {name: np.asarray(reader(path))}
    if reader == "text":
        return _text
    if reader == "bytes":
        return lambda name, path: {name: np.fromfile(path, dtype=np.uint8)}
    if ":" in reader:
        function = _named_function(reader)
        return lambda name, path: {name: np.asarray(function(path))}
    try:
        kind = np.dtype(reader)
    except TypeError:
        raise Misuse(
            f"{reader!r} reads no output", hint="use a NumPy type (float32), bytes, text, or module:function"
        ) from None
    return lambda name, path: {name: _elements(path, kind)}


def _elements(path: Path, kind: np.dtype[Any]) -> NDArray[Any]:
    size = path.stat().st_size
    if size % kind.itemsize:
        raise ValueError(f"its {size} bytes are no whole number of {kind.name} elements")
    return np.fromfile(path, dtype=kind)


def _text(name: str, path: Path) -> Arrays:
    """The numbers of a text, in order, and the words between them, with one # for each number."""
    text = path.read_text(errors="replace")
    numbers = np.array([float(n) for n in _NUMBER.findall(text)], dtype=np.float64)
    words = " ".join(_NUMBER.sub("#", text).split())
    return {name: numbers, f"{name}{WORDS}": np.frombuffer(words.encode(), dtype=np.uint8)}


def _named_function(reader: str) -> Callable[[Path], NDArray[Any]]:
    module, _, name = reader.partition(":")
    try:
        found: Callable[[Path], NDArray[Any]] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise Misuse(f"there is no reader {reader!r} ({error})", hint="put the module on PYTHONPATH") from error
    return found


def program_case(
    argv: Sequence[str], outputs: Mapping[str, Reader] | Sequence[str], folder: Path | str | None = None, **more: Any
) -> ProgramCase:
    """A ``ProgramCase``; ``outputs`` without readers are compared as bytes."""
    named = outputs if isinstance(outputs, Mapping) else dict.fromkeys(outputs, "bytes")
    return ProgramCase(tuple(argv), named, None if folder is None else Path(folder), **more)
