"""Captures that are damaged, foreign, cut short by a crash or a full disk: a sentence each, and what is whole is read."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.reference import execute_reference
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.file_format import MAGIC
from kernelwright.evaluate.capture.replay import replay
from tests.examples import few

SRC = Path(__file__).parents[2]


def read_everything(path: Path, *, partial: bool = False) -> list[tuple[Any, ...]]:
    """All that a capture holds, launch by launch."""
    with Capture.read(path, partial=partial) as capture:
        texts = [(capture.ir(name), capture.ptx(name)) for name in capture.modules]
        return [
            (launch, capture.snapshot(launch, "before"), capture.snapshot(launch, "after"), texts, capture.ending,
             [capture.operation_content(operation) for operation in launch.operations], capture.program)
            for launch in capture.launches
        ]  # fmt: skip


@settings(max_examples=few(150), deadline=None)
@given(share=st.floats(0, 1), data=st.data())
def test_a_changed_byte_is_noticed(share: float, data: st.DataObject, recorded: Path) -> None:
    raw = bytearray(recorded.read_bytes())
    at = min(int(share * len(raw)), len(raw) - 1)
    raw[at] ^= data.draw(st.integers(1, 255))
    path = recorded.with_name("changed.capture")
    path.write_bytes(raw)
    try:
        found = read_everything(path)
    except KernelwrightError as told:
        assert told.hint and str(path) in told.message
    else:  # A bit of the compression that decides nothing.
        assert found == read_everything(recorded)


def record_starts(raw: bytes) -> list[int]:
    """Where each record starts, and where the last one ends."""
    starts = [len(MAGIC) + 4]
    while starts[-1] < len(raw):
        starts.append(starts[-1] + 40 + int.from_bytes(raw[starts[-1] + 8 : starts[-1] + 16], "little"))
    return starts


def test_every_byte_of_every_header_is_watched(recorded: Path) -> None:
    raw = recorded.read_bytes()
    path = recorded.with_name("header.capture")
    starts = record_starts(raw)
    places = [*range(starts[0]), *(place for start in starts[:-1] for place in range(start, start + 40))]
    assert starts[-1] == len(raw) and len(places) > 1500
    path.write_bytes(raw)
    with path.open("r+b") as file:
        for place in places:
            os.pwrite(file.fileno(), bytes([raw[place] ^ 1 << place % 8]), place)
            with pytest.raises(KernelwrightError):
                read_everything(path)
            os.pwrite(file.fileno(), raw[place : place + 1], place)
    assert read_everything(path) == read_everything(recorded)


@settings(max_examples=few(150), deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_ends_early_is_read_up_to_there(share: float, recorded: Path) -> None:
    raw = recorded.read_bytes()
    everything = read_everything(recorded)
    path = recorded.with_name("short.capture")
    path.write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(KernelwrightError) as told:
        Capture.read(path)
    assert told.value.hint
    if "launches are whole" in str(told.value):
        whole = int(told.value.message.split("; ")[1].split()[0])
        assert read_everything(path, partial=True) == [(*one[:4], None, *one[5:]) for one in everything[:whole]]


def test_every_prefix_between_records_is_whole(recorded: Path) -> None:
    raw = recorded.read_bytes()
    path = recorded.with_name("prefix.capture")
    counts = []
    for end in [*range(len(MAGIC) + 4 + 60, len(raw), 997), len(raw) - 1]:
        path.write_bytes(raw[:end])
        try:
            counts.append(len(read_everything(path, partial=True)))
        except ToolError as error:
            assert "before its first record" in error.message
    assert counts == sorted(counts) and counts[-1] == 7


def test_more_behind_the_end(recorded: Path) -> None:
    path = recorded.with_name("longer.capture")
    raw = recorded.read_bytes()
    path.write_bytes(raw + raw[record_starts(raw)[1] :])
    with pytest.raises(ToolError, match="damaged at byte"):
        Capture.read(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is no capture"),
        (b"\x7fELF something else", "is no capture"),
        (b"kernelwright capture\n" + bytes(100), "is no capture"),
        (MAGIC, "ends before its first record"),
        (MAGIC + b"\1\0\0\0", "ends before its first record"),
        (MAGIC + b"\2\0\0\0" + bytes(100), "has format 2"),
        (MAGIC + b"\1\0\0\0" + bytes(100), "damaged at byte"),
    ],
)
def test_foreign_files(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.capture"
    path.write_bytes(content)
    for partial in (False, True):
        with pytest.raises(KernelwrightError, match=says) as told:
            Capture.read(path, partial=partial)
        assert told.value.hint


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(KernelwrightError):
            Capture.read(path)


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SRC / "src"), str(SRC)])}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


RECORD_FOR_EVER = """
    import struct, sys
    from pathlib import Path
    import numpy as np
    from kernelwright.device.arena import Arena
    from tests.evaluate.recording import Recorder
    with Arena() as arena:
        program = Recorder(Path(sys.argv[1]), "add", arena=arena)
        values = program.buffer("values", np.random.default_rng(1).integers(0, 9, 30_000, dtype=np.int32))
        while True:
            print(program.launch("add", 1, 4, struct.pack("<Qi", values.address, 1)), flush=True)
            if program.writer.launches == 3:
                print("go", flush=True)
"""


def test_kill_9_leaves_every_launch_that_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "killed.capture"
    process = python(RECORD_FOR_EVER, path)
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if len(lines) == 12:
            os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    done = max(int(line) for line in lines if line.isdigit())
    with pytest.raises(ToolError, match="launches are whole"):
        Capture.read(path)
    assert len(read_everything(path, partial=True)) > done
    with Capture.read(path, partial=True) as capture:
        assert not capture.complete
        assert all(one.as_recorded for one in replay(capture, execute_reference))


FILL_THE_DISK = """
    import resource, struct, sys
    from pathlib import Path
    import numpy as np
    from kernelwright.device.arena import Arena
    from kernelwright.errors import ToolError
    from tests.evaluate.recording import Recorder
    with Arena() as arena:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        program = Recorder(Path(sys.argv[1]), "add", arena=arena)
        values = program.buffer("values", np.zeros(30_000, np.int32))
        rng = np.random.default_rng(1)
        try:
            while True:
                program.write(values, rng.integers(0, 1 << 30, 30_000, dtype=np.int32))
                program.launch("add", 1, 4, struct.pack("<Qi", values.address, 1))
        except ToolError as error:
            print(program.writer.launches)
            print(error)
        try:
            program.writer.finish()
        except ToolError as error:
            print(error)
"""


def test_a_full_disk_keeps_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "full.capture"
    said, trouble = python(FILL_THE_DISK, path).communicate()
    assert not trouble
    lines = said.splitlines()
    assert "there is no room left" in lines[1] and lines[2].startswith("next: free space") and "has ended" in lines[3]
    assert path.stat().st_size <= 400_000
    # The file ends where a record does: nothing of the one that did not fit is left.
    assert record_starts(path.read_bytes())[-1] == path.stat().st_size
    assert len(read_everything(path, partial=True)) == int(lines[0]) >= 1


def test_the_limit_on_file_size_was_only_theirs() -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_record_that_makes_no_sense(recorded: Path, tmp_path: Path) -> None:
    from kernelwright.evaluate.capture.file_format import HEAD, LAUNCH, RecordWriter

    writer = RecordWriter(tmp_path / "c")
    writer.write_story(
        HEAD, {"program": {"argv": [], "folder": "", "device": "", "versions": {}}, "base": 1, "reserve": 1}
    )
    writer.write_story(LAUNCH, {"kernel": "k"})
    writer.close()
    with pytest.raises(ToolError, match="makes no sense"):
        Capture.read(tmp_path / "c")
    with pytest.raises(Misuse, match="no capture"):
        Capture.read(Path(__file__))
