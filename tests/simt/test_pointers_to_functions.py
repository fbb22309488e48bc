"""Calls through pointers to device functions, and virtual functions: both executors against Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.fault import Fault
from kernelwright.device.reference.launch import execute_reference
from kernelwright.device.variables import load_variables
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module
from kernelwright.launch import Launch
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]
SOURCE = r"""
#define T threadIdx.x
typedef int (*function)(int);
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int squared(int x) { return x * x; }
__device__ __noinline__ int summed(int x) {
  __shared__ int s[64];
  int kept[4];
  for (int i = 0; i < 4; i++) kept[(i + x) & 3] = i;
  s[T] = x;
  __syncthreads();
  int found = s[63 - T] + kept[x & 3];
  __syncthreads();
  return found;
}
__device__ function table[3] = {twice, squared, summed};
__device__ function chosen;

// Each thread calls another function; then all call one that has a barrier.
extern "C" __global__ void apart(int *a, int n) {
  int x = table[T & 1](a[T]);
  a[T] = table[2](x) + (T % 3 ? table[T % 2] : squared)(n);
}
extern "C" __global__ void choose(int *a, int n) { if (T == 0) chosen = table[n]; __syncthreads(); a[T] = chosen(a[T]); }
extern "C" __global__ void wrong(int *a, int n) { a[T] = ((function)(long long)n)(a[T]); }
extern "C" __global__ void other_type(int *a, int n) { a[T] = ((int (*)(int, int))table[0])(a[T], n); }

struct Shape {
  __device__ virtual int area(int scale) const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
  int side;
  __device__ Square(int side) : side(side) {}
  __device__ int area(int scale) const override { return side * side * scale; }
  __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
  int radius;
  __device__ Circle(int radius) : radius(radius) {}
  __device__ int area(int scale) const override { return 3 * radius * radius * scale; }
};
extern "C" __global__ void shapes(int *a, int n) {
  Square square(a[T]);
  Circle circle(a[T]);
  const Shape *which = T % 2 ? (const Shape *)&square : &circle;
  a[T] = which->area(n) + which->corners();
}
extern "C" __global__ void make(Shape **s, int n) { s[T] = T % 2 ? (Shape *)new (s + 64 + 2 * T) Square(T) : new (s + 64 + 2 * T) Circle(T); }
extern "C" __global__ void use(Shape **s, int n) { s[T] = (Shape *)(long long)s[T]->area(n); }
"""


def values(count: int = 64) -> Array:
    return np.arange(1, count + 1, dtype=np.int32)


def test_each_thread_calls_another(cuda: Compile, arena: Arena) -> None:
    t, a = np.arange(64), values()
    x = np.where(t & 1, a * a, 2 * a)  # kept[(i + x) & 3] = i, so kept[x & 3] is 0
    last = np.where(t % 3 == 0, 49, np.where(t % 2, 49, 14))
    made = Case(cuda(SOURCE), "apart", 1, 64, a, 7)
    assert np.array_equal(made.agree(arena).arrays[0], x[::-1] + last)


def test_what_is_called_is_in_memory(cuda: Compile, arena: Arena) -> None:
    for n, want in enumerate((2 * values(), values() ** 2, values()[::-1])):
        assert np.array_equal(Case(cuda(SOURCE), "choose", 1, 64, values(), n).agree(arena).arrays[0], want)


@pytest.mark.parametrize("name", ["wrong", "other_type"])
def test_what_is_no_function_is_a_fault(cuda: Compile, arena: Arena, name: str) -> None:
    made = Case(cuda(SOURCE), name, 1, 64, values(), 12345)
    assert made.agree(arena, faults=True).fault.kind == "trap"
    fault = made.fast(arena).launch.fault
    assert fault is not None and fault.note is not None and "no device function of this type" in fault.note[0]


def test_virtual_functions(cuda: Compile, arena: Arena) -> None:
    t, a = np.arange(64), values()
    want = np.where(t % 2, a * a * 5 + 4, 3 * a * a * 5)
    assert np.array_equal(Case(cuda(SOURCE), "shapes", 1, 64, a, 5).agree(arena).arrays[0], want)


def test_objects_of_another_launch(cuda: Compile, arena: Arena) -> None:
    module, t = cuda(SOURCE), np.arange(64)
    made = Case(module, "make", 1, 64, np.zeros(256, np.int64), 0)
    for run in (made.reference, made.fast):
        arena.reset()
        run(arena)
        buffer = next(b for b in arena.buffers if b.name == "argument 0")
        parameters = buffer.address.to_bytes(8, "little") + (5).to_bytes(8, "little")
        done = _launched(module, arena, parameters, is_fast=run == made.fast)
        assert done is None
        assert arena.view(buffer, np.int64)[:64].tolist() == np.where(t % 2, t * t * 5, 3 * t * t * 5).tolist()


def _launched(module: Module, arena: Arena, parameters: bytes, *, is_fast: bool) -> Fault | None:
    placed = {b.name: b for b in arena.buffers}
    loaded = Loaded(module, load_variables(module, arena, {n: b for n, b in placed.items() if n in module.globals}))
    execution = Execution(loaded, Launch("use", (1, 1, 1), (64, 1, 1), parameters), budget=1 << 20)
    return (VirtualGpu().run(execution, arena) if is_fast else execute_reference(execution, arena)).fault
