"""Large buffers in huge pages: bytes stay what they are, neighbours too, and freeing gives all of it back."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device import arena as arena_module
from kernelwright.device import shared_mapping
from kernelwright.device.arena import POISON, Arena
from kernelwright.device.serving import allocations
from kernelwright.device.serving.allocations import COMMITTED_UP_TO, Allocations
from kernelwright.device.settings import Settings
from kernelwright.device.shared_mapping import HUGE
from kernelwright.target import DEFAULT_GPU, gpu

KIB = 1 << 10
SIZES = st.one_of(st.integers(1, 8 * KIB), st.integers(HUGE - 2, HUGE + 2), st.integers(HUGE, 3 * HUGE))
STEP = st.tuples(st.sampled_from(["filled", "zero", "committed", "free", "free", "write"]), SIZES, st.integers(0, 255))


@pytest.fixture
def huge_pages() -> None:
    """Skips a test where the system has none for shared memory."""
    with Arena() as arena:
        if not shared_mapping.make_huge(arena.base, arena.base + HUGE):
            pytest.skip("this system has no huge pages for shared memory")


def committed(arena: Arena) -> int:
    return os.fstat(arena.fd).st_blocks * 512


@settings(max_examples=40, deadline=None)
@given(st.lists(STEP, max_size=12))
def test_every_byte_is_what_was_written_last(steps: list[tuple[str, int, int]]) -> None:
    with Arena() as arena:
        held = []
        for what, size, value in steps:
            if what in {"free", "write"} and held:
                at = value % len(held)
                if what == "free":
                    arena.free(held.pop(at)[0])
                else:
                    arena.view(held[at][0])[:] = value
                    held[at] = (held[at][0], value)
            elif what not in {"free", "write"}:
                buffer = arena.allocate(size, what, align=1, fill=value if what == "filled" else None)
                if what == "committed":
                    arena.commit(buffer.address, size)
                held.append((buffer, value if what == "filled" else 0))
            for buffer, expected in held:
                assert np.all(arena.view(buffer) == expected)
        for buffer, _ in held:
            arena.free(buffer)
        assert committed(arena) == 0


def test_where_the_system_has_none_all_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_mapping, "_MADV_COLLAPSE", 12345)
    with Arena() as arena:
        buffer = arena.allocate(3 * HUGE, "x")
        assert not shared_mapping.make_huge(arena.base, arena.base + HUGE)
        assert np.all(arena.view(buffer) == POISON)
        arena.free(buffer)


@pytest.mark.usefixtures("huge_pages")
def test_large_buffers_come_in_huge_pages() -> None:
    with Arena() as arena:
        arena.allocate(8 * HUGE, "x")
        text = Path("/proc/self/smaps").read_text()
        mapped = text[text.index("kernelwright-arena") :]
        huge = next(line.split()[1] for line in mapped.splitlines() if line.startswith("ShmemPmdMapped"))
        assert int(huge) * KIB >= 7 * HUGE


def test_the_edges_of_an_arena_are_not_passed() -> None:
    size = 3 * HUGE + 4096
    with Arena(reserve=size) as arena, Arena(reserve=HUGE) as other:
        buffer = arena.allocate(size - 2 * arena_module.GAP, "all there is")
        assert np.all(arena.view(buffer) == POISON)
        arena.free(buffer)
        assert committed(arena) == 0
        assert committed(other) == 0


@pytest.mark.usefixtures("huge_pages")
def test_a_program_gets_large_buffers_at_once_and_very_large_ones_as_it_uses_them() -> None:
    with Arena() as arena:
        memory = Allocations(arena, Settings(gpu=gpu(DEFAULT_GPU), memory_bytes=4 << 30))
        start = memory.allocate(4 * HUGE, 0)
        assert committed(arena) >= 4 * HUGE
        assert not arena.view(arena.buffers[0]).any()
        memory.free(start)
        assert committed(arena) == 0
        memory.allocate(COMMITTED_UP_TO + 1, 0)
        assert committed(arena) < HUGE


@pytest.mark.usefixtures("huge_pages")
def test_a_share_of_the_memory_is_committed_at_once_and_no_more() -> None:
    with Arena() as arena:
        memory = Allocations(arena, Settings(gpu=gpu(DEFAULT_GPU), memory_bytes=32 * HUGE))
        for _ in range(6):
            memory.allocate(4 * HUGE, 0)
        assert 8 * HUGE <= committed(arena) <= 12 * HUGE


@pytest.mark.usefixtures("huge_pages")
def test_what_is_allocated_again_and_again_is_not_committed_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocations, "COMMITTED_IN_ALL", 8 * HUGE)
    with Arena() as arena:
        memory = Allocations(arena, Settings(gpu=gpu(DEFAULT_GPU), memory_bytes=4 << 30))
        found = []
        for _ in range(4):
            start = memory.allocate(4 * HUGE, 0)
            found.append(committed(arena) >= 4 * HUGE)
            memory.free(start)
        assert found == [True, True, False, False]
        assert committed(arena) == 0
        memory.start_over()
        memory.allocate(4 * HUGE, 0)
        assert committed(arena) >= 4 * HUGE
