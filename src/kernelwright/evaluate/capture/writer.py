"""Recording: the writer of capture files, driven by the session that launches kernels.

    with CaptureWriter(path, ProgramIdentity(argv)) as writer:
        writer.module("app.cu", ir, ptx, variables)
        before = writer.memory(arena)
        ... launch ...
        writer.launch("app.cu", launch, before=before, after=writer.memory(arena))
        writer.finish(exit_code, outputs)

Content goes to the file as it comes and is written once; a process that dies leaves every launch it has recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from kernelwright.device.arena import ARENA_BASE, RESERVE, Arena, Snapshot
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture import file_format as form
from kernelwright.evaluate.capture.capture import (
    Memory,
    Operation,
    ProgramIdentity,
    Stored,
    launch_as_json,
    pointers_in,
)
from kernelwright.evaluate.capture.file_format import LIST, PAGE, PAGE_BYTES, TEXT, RecordWriter
from kernelwright.launch import Launch


class CaptureWriter:
    """Writes a new capture to ``path``; an older file there is replaced.

    ``base`` and ``reserve`` are the arena's. Raises ``Misuse`` when the file cannot be made, ``ToolError`` when the disk
    fills: what was recorded before that stays readable.
    """

    def __init__(
        self, path: Path | str, program: ProgramIdentity, *, base: int = ARENA_BASE, reserve: int = RESERVE
    ) -> None:
        self._records = RecordWriter(Path(path))
        self._modules: set[str] = set()
        self.path = self._records.path
        self.launches = 0
        self.finished = False
        self._records.write_story(form.HEAD, {"program": program.as_json(), "base": base, "reserve": reserve})

    def module(self, name: str, ir: str, ptx: str | None = None, variables: Mapping[str, int] | None = None) -> None:
        """A module of the program, before its first launch. ``variables``: where its device variables lie."""
        texts = [self._records.write_content(TEXT, text.encode()).hex() if text else None for text in (ir, ptx)]
        self._records.write_story(
            form.MODULE, {"name": name, "ir": texts[0], "ptx": texts[1], "variables": dict(variables or {})}
        )
        self._modules.add(name)

    def memory(self, source: Arena | Snapshot) -> Memory:
        """Records the content of every buffer as it is now; returns what ``launch`` takes."""
        if isinstance(source, Snapshot):
            return tuple(Stored(b, self._content(memoryview(content))) for b, content in source.contents)
        return tuple(Stored(b, self._content(source.bytes(b.address, b.size))) for b in source.buffers)

    def operation(self, operation: Operation, written: bytes | memoryview | None = None) -> None:
        """What the host did to the device's memory; ``written``: the bytes, row by row, of a ``write``."""
        if written is not None:
            operation = replace(operation, content=self._content(memoryview(written)).hex())
        plain = asdict(Operation(operation.kind, operation.address))
        row = {k: v for k, v in asdict(operation).items() if k in ("kind", "address") or v != plain[k]}
        self._records.write_story(form.OPERATION, row)

    def launch(
        self,
        module: str,
        launch: Launch,
        *,
        before: Memory,
        after: Memory,
        fault: str = "",
        time_us: float | None = None,
    ) -> int:
        """Records one launch; returns its number. Raises ``Misuse`` for a module that was not recorded."""
        if module not in self._modules:
            raise Misuse(f"module {module!r} was not recorded before its first launch", hint="call module() first")
        pointers = pointers_in(launch.parameters, (s.buffer for s in before))
        self._records.write_story(
            form.LAUNCH,
            {
                "module": module,
                **launch_as_json(launch),
                "pointers": [(p.offset, p.buffer, p.inside) for p in pointers],
                "before": [s.as_json() for s in before],
                "after": [s.as_json() for s in after],
                "fault": fault,
                "time_us": time_us,
            },
        )
        self.launches += 1
        return self.launches - 1

    @property
    def is_cut_short(self) -> bool:
        """Whether something could not be written; what came before it is there."""
        return not self._records.is_open and not self.finished

    def finish(self, exit_code: int | None = None, outputs: Mapping[str, str] | None = None) -> None:
        """The program has ended: ``outputs`` are the files it wrote and their hashes. Nothing can be added afterwards."""
        self._records.write_story(form.DONE, {"exit_code": exit_code, "outputs": dict(outputs or {})})
        self._records.sync()
        self.finished = True
        self._records.close()

    def close(self) -> None:
        """Finishes the recording unless that was done."""
        if not self.finished:
            self.finish()

    def abandon(self) -> None:
        """Leaves the file as it is: a recording that was cut short."""
        self._records.close()

    def __enter__(self) -> CaptureWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()

    def leave_open(self) -> None:
        """Every launch is recorded, how the program ends is not known yet: ``end_capture`` says it later."""
        if not self.is_cut_short:
            self._records.sync()
            self.finished = True
            self._records.close()

    def _content(self, data: memoryview) -> bytes:
        if len(data) <= PAGE_BYTES:
            return self._records.write_content(PAGE, data)
        starts = range(0, len(data), PAGE_BYTES)
        names = b"".join(self._records.write_content(PAGE, data[i : i + PAGE_BYTES]) for i in starts)
        return self._records.write_content(LIST, names)


def end_capture(path: Path, exit_code: int | None, outputs: Mapping[str, str] | None = None) -> None:
    """Adds to a recording that was left open how the program ended: ``outputs`` are the files it wrote and their hashes."""
    records = RecordWriter.reopen(path)
    try:
        records.write_story(form.DONE, {"exit_code": exit_code, "outputs": dict(outputs or {})})
        records.sync()
    finally:
        records.close()
