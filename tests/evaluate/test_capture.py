"""Captures: what is written is what is read, once, and in a file of sensible size."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.arena import ARENA_BASE, Arena, Buffer, Snapshot
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture.capture import Capture, Memory, Operation, Pointer, Stored, is_capture, pointers_in
from kernelwright.evaluate.capture.file_format import PAGE_BYTES
from kernelwright.evaluate.capture.writer import CaptureWriter
from kernelwright.ir import parse_module
from kernelwright.launch import Launch
from tests.evaluate.recording import PROGRAM, Recorder
from tests.examples import few


def test_everything_is_there_again(capture: Capture) -> None:
    assert capture.complete and capture.program == PROGRAM
    assert (
        capture.ending is not None
        and capture.ending.exit_code == 0
        and capture.ending.outputs == {"result.bin": "0" * 40}
    )
    assert capture.kernels == ("_Z5scalePKfPffi", "follow", "count", "add")
    assert [launch.number for launch in capture.launches] == list(range(7))
    scale = capture.launches[0]
    assert (scale.launch.grid, scale.launch.block, scale.time_us, scale.fault) == ((16, 1, 1), (4, 1, 1), 2.5, "")
    buffers = {b.name: content for b, content in capture.buffers(scale, "before")}
    assert np.array_equal(np.frombuffer(buffers["d_in"], np.float32), np.arange(1, 65))
    after = {b.name: content for b, content in capture.buffers(0, "after")}
    assert np.array_equal(np.frombuffer(after["d_out"], np.float32)[:60], 2 * np.arange(1, 61))
    assert "out-of-bounds" in capture.launches[6].fault
    module = parse_module(capture.ir("app.cu"))
    assert "follow" in module.functions and capture.ptx("app.cu") == "// ptx"
    with pytest.raises(Misuse, match=r"app\.cu"):
        capture.ir("other.cu")


def test_what_the_host_did_in_between(capture: Capture) -> None:
    kinds = [[op.kind for op in launch.operations] for launch in capture.launches]
    assert kinds[0] == ["allocate", "write"] * 6 and kinds[1] == ["write"] and kinds[2:] == [[]] * 5
    written = capture.launches[1].operations[0]
    assert capture.operation_content(written) == bytes(256)
    (read,) = capture.last_operations
    assert (read.kind, read.width) == ("read", 256) and capture.operation_content(read) is None


def test_arguments_know_their_pointers(capture: Capture) -> None:
    at = {s.buffer.name: s.buffer.address for s in capture.launches[0].before}
    assert capture.launches[0].pointers == (Pointer(0, at["d_in"], 0), Pointer(8, at["d_out"], 0))
    assert capture.launches[5].pointers == (Pointer(0, at["d_integers"], 16),)
    assert capture.modules["app.cu"].variables == {"table": at["table"], "launches": at["launches"]}


def test_pointers_at_the_edges_of_buffers() -> None:
    one, two = Buffer(0x1000, 16, "one"), Buffer(0x1010, 0, "empty")
    packed = struct.pack("<QQQiQ4x", 0x0FFF, 0x100F, 0x1010, 0x1000, 0x1000)
    # The third is the end of one and the start of an empty one; the last is not aligned as a pointer is.
    assert pointers_in(packed, [one, two]) == (Pointer(8, 0x1000, 15), Pointer(16, 0x1000, 16))


def test_content_is_written_once(recorded: Path, tmp_path: Path) -> None:
    # 14 times the memory of 160 KB and more; random floats do not compress.
    assert recorded.stat().st_size < 220_000
    with Arena() as arena:
        path = tmp_path / "again.capture"
        program = Recorder(path, "add", arena=arena)
        program.buffer("big", np.random.default_rng(2).random(100_000))
        small = program.buffer("small", np.zeros(4, np.int32))
        for _ in range(50):
            program.launch("add", 1, 4, struct.pack("<Qi", small.address, 1))
        program.writer.close()
    assert path.stat().st_size < 800_000 + 120_000
    with Capture.read(path) as capture:
        assert [c for b, c in capture.buffers(49, "after") if b.name == "small"] == [struct.pack("<4i", 50, 50, 50, 50)]


@settings(max_examples=few(40), deadline=None)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 7, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, 3 * PAGE_BYTES]), max_size=4),
    seed=st.integers(0, 99),
)
def test_any_memory_comes_back(sizes: list[int], seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = np.random.default_rng(seed)
    contents = []
    for n, size in enumerate(sizes):
        bound = int(rng.choice([1, 2, 256]))
        buffer = Buffer(ARENA_BASE + (n << 20), size, f"b{n}", bool(rng.integers(2)))
        contents.append((buffer, rng.integers(0, bound, size, dtype=np.uint8).tobytes()))
    snapshot = Snapshot(tuple(contents))
    path = tmp_path_factory.mktemp("any") / "c"
    with CaptureWriter(path, PROGRAM) as writer:
        writer.module("m", "; nothing")
        memory = writer.memory(snapshot)
        launch = Launch("k", (1, 2, 3), (4, 5, 6), b"\1\2\3", 7)
        assert writer.launch("m", launch, before=memory, after=()) == 0
    with Capture.read(path) as capture:
        (found,) = capture.launches
        assert capture.snapshot(0, "before") == snapshot and capture.snapshot(0, "after").contents == ()
        assert (found.launch, found.kernel, found.number) == (launch, "k", 0)
        assert capture.ptx("m") is None


def test_a_reader_keeps_little_in_memory(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.evaluate.capture.capture.KEPT_BYTES", 1000)
    with Capture.read(recorded) as capture:
        for launch in capture.launches:
            capture.snapshot(launch, "before")
        assert 0 < capture._contents.bytes <= 160_000


def test_an_older_file_is_replaced_and_a_live_one_is_not(recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_bytes(recorded.read_bytes())
    with CaptureWriter(path, PROGRAM), pytest.raises(Misuse, match="another process is recording"):
        CaptureWriter(path, PROGRAM)
    with Capture.read(path) as capture:
        assert capture.launches == ()


def test_a_writer_wants_things_in_order(tmp_path: Path) -> None:
    nothing: Memory = (Stored(Buffer(ARENA_BASE, 0, "b"), b""),)
    with CaptureWriter(tmp_path / "c", PROGRAM) as writer, pytest.raises(Misuse, match="'m' was not recorded"):
        writer.launch("m", Launch("k", (1, 1, 1), (1, 1, 1)), before=nothing, after=nothing)
    with pytest.raises(Misuse, match="cannot be written"):
        CaptureWriter(tmp_path / "no" / "folder", PROGRAM)


def test_operations_are_written_in_full(tmp_path: Path) -> None:
    copy = Operation("copy", ARENA_BASE, 16, 4, 2, 64, 256, ARENA_BASE + 4096, 32, 128)
    with CaptureWriter(tmp_path / "c", PROGRAM) as writer:
        writer.operation(copy)
        writer.operation(Operation("fill", ARENA_BASE, 8, value=0xCD))
    with Capture.read(tmp_path / "c") as capture:
        assert capture.last_operations == (copy, Operation("fill", ARENA_BASE, 8, value=0xCD))


def test_what_starts_as_a_capture(recorded: Path, tmp_path: Path) -> None:
    assert is_capture(recorded) and not is_capture(Path(__file__)) and not is_capture(tmp_path / "nothing")
