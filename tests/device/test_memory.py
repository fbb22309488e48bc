"""The arena: addresses, gaps, tables, snapshots, and what happens to those who use it wrongly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kernelwright.device.arena import ARENA_BASE, GAP, POISON, Arena
from kernelwright.errors import DeviceError


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as arena:
        yield arena


def test_the_first_arena_lies_at_the_fixed_address_every_time() -> None:
    for _ in range(3):
        with Arena() as arena:
            assert arena.base == ARENA_BASE
            assert arena.allocate(4, "x").address == ARENA_BASE + GAP


def test_the_address_does_not_depend_on_the_size_of_earlier_arenas() -> None:
    for reserve in (1 << 20, 1 << 30, 1 << 20):
        with Arena(reserve) as arena:
            assert arena.base == ARENA_BASE


def test_two_arenas_at_once_do_not_share_addresses() -> None:
    with Arena() as one, Arena() as two:
        a, b = one.allocate(64, "a"), two.allocate(64, "b")
        assert not two.contains(a.address) and not one.contains(b.address)


def test_buffers_are_aligned_apart_and_poisoned(arena: Arena) -> None:
    buffers = [arena.allocate(size, f"b{size}", align) for size, align in ((1, 256), (1000, 4096), (7, 16), (0, 256))]
    for before, after in pairwise(buffers):
        assert after.address - before.end >= GAP
    assert buffers[1].address % 4096 == 0
    assert set(arena.view(buffers[1])) == {POISON}
    assert set(arena.view(arena.allocate(9, "zero", fill=None))) == {0}


def test_a_view_is_the_memory_itself(arena: Arena) -> None:
    buffer = arena.allocate(18, "x")
    floats = arena.view(buffer, np.float32)
    assert floats.shape == (4,)
    floats[:] = [1, 2, 3, 4]
    assert arena.view(buffer, np.uint32)[0] == 0x3F800000
    assert arena.typed("f")[(buffer.address - arena.base) // 4 + 3] == 4.0


def test_find_is_exact_at_both_ends(arena: Arena) -> None:
    a, b = arena.allocate(100, "a"), arena.allocate(50, "b")
    assert arena.find(a.address) == a and arena.find(a.end - 1) == a
    assert arena.find(a.end) is None and arena.find(a.address - 1) is None
    assert arena.find(b.end - 1) == b and arena.find(0) is None
    assert arena.nearest(a.end + 3) == a and arena.nearest(b.address - 3) == b
    assert arena.nearest(0) == a and arena.nearest(2**63) == b


def test_freed_buffers_keep_their_names(arena: Arena) -> None:
    a, b = arena.allocate(100_000, "a"), arena.allocate(10, "b")
    arena.free(a)
    assert arena.find(a.address) is None
    assert arena.find_freed(a.end - 1) == a and arena.find_freed(b.address) is None
    assert arena.allocate(100_000, "c").address > b.address
    with pytest.raises(DeviceError, match=r"'a' at .* freed twice"):
        arena.free(a)
    with pytest.raises(DeviceError, match="2 bytes inside buffer 'b'"):
        arena.free(b.address + 2)
    with pytest.raises(DeviceError, match="not the address of a buffer"):
        arena.free(12)


def test_the_table_for_compiled_code_follows_the_buffers(arena: Arena) -> None:
    a = arena.allocate(100, "a")
    b = arena.allocate(10, "b", writable=False)
    table = arena.bounds()
    assert table.itemsize == 24 and arena.bounds() is table
    assert table.tolist() == [(a.address, a.end, 0, 1), (b.address, b.end, 1, 0)]
    arena.free(a)
    assert arena.bounds().tolist() == [(b.address, b.end, 0, 0)]


def test_snapshot_and_restore(arena: Arena) -> None:
    a, b = arena.allocate(4, "a"), arena.allocate(4, "b")
    arena.view(a, np.int32)[0] = 7
    arena.view(b, np.int32)[0] = 8
    before = arena.snapshot()
    arena.view(a, np.int32)[0] = 9
    arena.free(b)
    later = arena.allocate(4, "later")
    arena.restore(before)
    assert arena.buffers == (a, b)
    assert arena.view(a, np.int32)[0] == 7 and arena.view(b, np.int32)[0] == 8
    assert arena.find(later.address) is None
    assert arena.allocate(4, "next").address > later.address


def test_reset_gives_the_same_addresses_again(arena: Arena) -> None:
    first = [arena.allocate(1000, "x").address for _ in range(3)]
    arena.reset()
    assert [arena.allocate(1000, "x").address for _ in range(3)] == first


def test_cleared_it_is_as_a_new_one(arena: Arena) -> None:
    def fill() -> list[tuple[int, set[int]]]:
        given = [arena.allocate(5000, "x"), arena.allocate(10, "y", fill=0), arena.allocate(9000, "z", fill=None)]
        found = [(buffer.address, set(arena.view(buffer).tolist())) for buffer in given]
        for buffer in given:
            arena.view(buffer)[:] = 7
        return found

    first = fill()
    assert [values for _, values in first] == [{POISON}, {0}, {0}]
    table = arena.bounds()
    arena.clear()
    assert arena.buffers == () and arena.find(first[0][0]) is None and arena.find_freed(first[0][0]) is None
    assert len(arena.bounds()) == 0 and len(table) == 3
    assert fill() == first


def test_room_is_used_again_when_the_arena_is_full() -> None:
    with Arena(reserve=1 << 20) as arena:
        a = arena.allocate(300_000, "a")
        arena.allocate(300_000, "b")
        with pytest.raises(DeviceError, match="No room for buffer 'c' of 300000 bytes"):
            arena.allocate(300_000, "c")
        arena.free(a)
        c = arena.allocate(300_000, "c")
        assert c.address == a.address and set(arena.view(c)) == {POISON}
        assert arena.find_freed(a.address) is None


def committed_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssShmem:")[1].split()[0])


def test_allocating_and_freeing_in_a_loop_takes_no_memory(arena: Arena) -> None:
    kept = arena.allocate(1000, "kept")
    before = committed_bytes()
    for _ in range(2000):
        neighbour = arena.allocate(100, "neighbour")
        arena.free(arena.allocate(1000, "x"))
        arena.free(neighbour)
    assert committed_bytes() - before < 1 << 20  # 4000 buffers went by
    assert set(arena.view(kept)) == {POISON}


def test_gaps_take_no_memory(arena: Arena) -> None:
    before = committed_bytes()
    buffers = [arena.allocate(1000, "x") for _ in range(500)]
    assert buffers[-1].end - buffers[0].address > 500 * GAP
    assert committed_bytes() - before < 500 * 3 * 4096


def test_freeing_leaves_the_bytes_of_neighbours(arena: Arena) -> None:
    a, b, c = (arena.allocate(size, name, align=1) for size, name in ((5000, "a"), (4097, "b"), (3, "c")))
    for buffer, value in ((a, 1), (c, 3)):
        arena.view(buffer)[:] = value
    arena.free(b)
    assert set(arena.view(a)) == {1} and set(arena.view(c)) == {3}


def test_rewinding_gives_the_same_addresses_again(arena: Arena) -> None:
    kept = arena.allocate(100, "kept")
    mark = arena.next_address
    first = [arena.allocate(1000, "x").address for _ in range(3)]
    arena.free(first[1])
    arena.rewind(mark)
    assert arena.buffers == (kept,) and arena.find_freed(first[1]) is None
    assert [arena.allocate(1000, "x").address for _ in range(3)] == first


def test_the_names_of_many_freed_buffers_are_kept(arena: Arena) -> None:
    freed = [arena.allocate(16, f"b{i}") for i in range(3)]
    for buffer in freed:
        arena.free(buffer)
    assert [arena.find_freed(b.address) for b in freed] == freed


@pytest.mark.parametrize(("size", "align"), [(-1, 256), (4, 3), (4, 0)])
def test_impossible_buffers_are_refused(arena: Arena, size: int, align: int) -> None:
    with pytest.raises(DeviceError, match="power of two"):
        arena.allocate(size, "x", align)


def test_neither_an_arena_nor_what_is_left_of_it_counts_as_allocated() -> None:
    """Workers are held to a limit of private memory (RLIMIT_DATA); what an arena reserves is far beyond any."""

    def private() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))

    before = private()
    arena = Arena()
    assert private() - before < 1 << 30 < arena.reserve
    arena.close()
    assert private() - before < 1 << 30


def test_a_closed_arena_refuses_and_its_views_do_not_crash() -> None:
    arena = Arena()
    buffer = arena.allocate(4096, "x")
    view = arena.view(buffer)
    view[:] = 3
    arena.close()
    arena.close()
    assert view.sum() == 0
    with pytest.raises(DeviceError, match="closed"):
        arena.allocate(4, "y")


def test_a_dropped_arena_gives_its_addresses_back() -> None:
    first = Arena()
    base, reserve, descriptor = first.base, first.reserve, first.fd
    circle: list[object] = [first]
    circle.append(circle)
    del first, circle
    again = os.memfd_create("again")
    os.ftruncate(again, reserve)
    with Arena.attach(again, base, reserve) as taken:
        assert taken.base == base and taken.allocate(64, "x").address > base
        with pytest.raises(OSError):
            os.fstat(descriptor)


def test_another_process_sees_the_same_bytes_at_the_same_address(arena: Arena) -> None:
    buffer = arena.allocate(8, "x")
    arena.view(buffer, np.int64)[0] = 41
    code = (
        "import sys, ctypes; from kernelwright.device.arena import Arena\n"
        "arena = Arena.attach(int(sys.argv[1])); p = ctypes.c_int64.from_address(int(sys.argv[2])); p.value += 1"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(arena.fd), str(buffer.address)]
    subprocess.run(command, pass_fds=[arena.fd], env=environment, check=True)
    assert arena.view(buffer, np.int64)[0] == 42


def test_memory_is_committed_only_as_it_is_used(arena: Arena) -> None:
    arena.allocate(32 << 30, "huge", fill=None)
    used = os.fstat(arena.fd).st_blocks * 512
    assert used < 1 << 20
    small = arena.allocate(8 << 20, "small")
    grown = os.fstat(arena.fd).st_blocks * 512
    arena.free(small)
    assert os.fstat(arena.fd).st_blocks * 512 < grown - (7 << 20)


def test_what_is_allocated_after_restoring_overlaps_nothing() -> None:
    with Arena() as first:
        for size in (100, 5000, 70_000):
            first.allocate(size, f"b{size}")
        kept = first.snapshot()
    with Arena() as second:
        second.restore(kept)
        new = second.allocate(1000, "new")
        assert all(new.address >= b.end or new.end <= b.address for b in second.buffers if b != new)
