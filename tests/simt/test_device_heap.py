"""malloc and free in kernels: both executors against Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelwright.codegen.device_heap import HEAP, HEAP_BYTES
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Case

Compile = Callable[[str], Module]
SOURCE = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
struct node { int value; node *next; };
extern "C" __global__ void lists(int *o, int n) {
  node *head = nullptr;
  for (int i = 0; i < n; i++) { node *one = (node *)malloc(sizeof(node)); one->value = i + I; one->next = head; head = one; }
  int sum = 0;
  while (head) { sum += head->value; node *next = head->next; free(head); head = next; }
  o[I] = sum;
}
extern "C" __global__ void sizes(long long *o, int n) { o[I] = (long long)malloc(I * n + 1); }
extern "C" __global__ void again(long long *o, int n) {
  for (int i = 0; i < n; i++) { volatile char *p = (volatile char *)malloc(1 << 18); if (!p) break; p[100] = 1; o[I] += p[100]; free((void *)p); }
}
extern "C" __global__ void nothing(long long *o, int n) { free(nullptr); o[0] = (long long)malloc(1ull << 40); o[1] = (long long)malloc(0); }
extern "C" __global__ void wild(long long *o, int n) { free((void *)(o[0] + n)); }
"""


def test_lists(cuda: Compile, arena: Arena) -> None:
    made = Case(cuda(SOURCE), "lists", 3, 64, np.zeros(192, np.int32), 10)
    assert np.array_equal(made.agree(arena).arrays[0], 45 + 10 * np.arange(192))
    found = made.fast(arena, watch=Watch(races=True, unwritten=True)).launch
    assert not found.found


def test_blocks_of_the_heap_lie_apart_and_aligned(cuda: Compile, arena: Arena) -> None:
    made = Case(cuda(SOURCE), "sizes", 2, 64, np.zeros(128, np.int64), 37)
    for run in (made.reference, made.fast):
        starts = run(arena).arrays[0]
        heap = next(b for b in arena.buffers if b.name == HEAP)
        assert (starts % 16 == 0).all() and (starts > heap.address).all()
        ends = starts + 37 * np.arange(128) + 1
        order = np.argsort(starts)
        assert (ends[order][:-1] <= starts[order][1:]).all() and ends.max() <= heap.address + HEAP_BYTES


def test_what_is_freed_is_used_again(cuda: Compile, arena: Arena) -> None:
    rounds = 4 * HEAP_BYTES >> 18
    made = Case(cuda(SOURCE), "again", 2, 4, np.zeros(8, np.int64), rounds)
    assert made.agree(arena).arrays[0].tolist() == [rounds] * 8


def test_what_cannot_be_had_is_null(cuda: Compile, arena: Arena) -> None:
    made = Case(cuda(SOURCE), "nothing", 1, 1, np.ones(2, np.int64), 0)
    for run in (made.reference, made.fast):
        none, some = run(arena).arrays[0]
        assert none == 0 and some != 0


def test_freeing_what_is_no_memory_is_a_fault(cuda: Compile, arena: Arena) -> None:
    made = Case(cuda(SOURCE), "wild", 1, 1, np.array([64]), 0)
    assert made.agree(arena, faults=True).fault.kind == "out-of-bounds"
