"""Functions that call themselves: on the virtual GPU, whose threads then have a stack, as on the executor that lets Python call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.reference import Watch, execute_reference
from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module
from kernelwright.launch import STACK_BYTES, Launch

from ..device.conftest import compiled, packed

__all__ = ["compiled"]

NOINLINE = "static __device__ __attribute__((noinline))"
BUDGET = 10**6
N = 70
"""Threads: two whole warps and a part of one."""

PROGRAMS: dict[str, tuple[str, str, Callable[[int], int] | None]] = {}
"""By name: functions, what a thread computes of its number ``t``, and the same in Python where that is short."""


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def ackermann(m: int, n: int) -> int:
    return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


PROGRAMS["two calls"] = (
    f"{NOINLINE} int fib(int n) {{ return n < 2 ? n : fib(n - 1) + fib(n - 2); }}",
    "fib(t % 11)",
    lambda t: fib(t % 11),
)
PROGRAMS["a call in a call"] = (
    f"{NOINLINE} int ack(int m, int n) {{ return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }}",
    "ack(2, t % 4)",
    lambda t: ackermann(2, t % 4),
)
PROGRAMS["each other"] = (
    f"""{NOINLINE} int odd(int n);
{NOINLINE} int even(int n) {{ return n ? odd(n - 1) + 2 : 1; }}
{NOINLINE} int odd(int n) {{ return n ? even(n - 1) * 3 % 1001 : 0; }}""",
    "even(t) + odd(t / 2)",
    None,
)
PROGRAMS["in a loop, with values before and after"] = (
    f"""{NOINLINE} int walk(int n, unsigned seed)
{{
    int sum = n * 7, last = 1;
    for (int i = 0; i < n; i++) {{
        unsigned next = seed * 1664525u + i;
        if (next & 4) last = walk(n - 1 - i, next) + last % 5;
        else sum += last;
        sum += last * (i + 1);
    }}
    return sum % 9973;
}}""",
    "walk(t % 7, t)",
    None,
)
PROGRAMS["local arrays, and pointers into a caller's"] = (
    f"""{NOINLINE} int sum(const int *from, int n, int depth)
{{
    int mine[4];
    for (int i = 0; i < 4; i++) mine[i] = from[(i + depth) & 3] + i * depth;
    if (n == 0) return mine[depth & 3];
    int below = sum(mine, n - 1, depth + 1);
    return below + mine[n & 3];
}}
{NOINLINE} int start(int t) {{ int first[4] = {{t, t + 1, t + 2, 5}}; return sum(first, t % 9, 1); }}""",
    "start(t)",
    None,
)
PROGRAMS["numbers of all kinds"] = (
    f"""struct both {{ double d; long long l; }};
{NOINLINE} both halve(float x, double y, char c, bool b, long long l, int n)
{{
    if (n == 0) return both{{x + y, l + c}};
    double keep = y * 3 + x;
    both below = halve(x * 0.5f, y + x, c + 1, !b, l << 1, n - 1);
    return both{{below.d * 0.25 + keep, b ? below.l + c : below.l ^ l}};
}}""",
    "(int)halve(t * 1.5f, t / 3.0, t, t & 1, t * 1000003LL, t % 6).d * 1000 + (int)(halve(t, 2, t, t & 1, t, t % 5).l % 977)",
    None,
)
PROGRAMS["one group under another"] = (
    f"""{NOINLINE} int inner(int n) {{ return n < 2 ? 1 : inner(n - 1) * 3 % 101 + inner(n - 2); }}
{NOINLINE} int outer(int n) {{ if (n == 0) return 1; int a = inner(n); int b = outer(n - 1); return (a + b * inner(n / 2)) % 997; }}""",
    "outer(t % 8)",
    None,
)
PROGRAMS["sums with a product in them"] = (
    f"""{NOINLINE} float horner(const float *c, float x, int n)
{{
    float here = c[n & 3] * x;
    float rest = n ? horner(c, x, n - 1) : 0;
    return here * x + rest * c[n & 1];
}}
{NOINLINE} int of(int t) {{ float c[4] = {{0.1f, 0.7f, 1.3f, t * 0.01f}}; return __float_as_int(horner(c, t * 0.13f, t % 6)); }}""",
    "of(t)",
    None,
)
PROGRAMS["a product before a call, in a sum behind it"] = (
    f"""{NOINLINE} float series(const float *c, float y, int n)
{{
    if (n == 0) return y;
    float product = c[n] * y;
    float rest = series(c, y + 0.1f, n - 1);
    return product + rest;
}}
{NOINLINE} int of(int t)
{{
    float c[8];
    for (int i = 0; i < 8; i++) c[i] = t * 0.3f + i;
    return __float_as_int(series(c, t * 0.7f + 0.01f, t % 7));
}}""",
    "of(t)",
    None,
)
PROGRAMS["structs by value"] = (
    f"""struct some {{ int v[5]; }};
{NOINLINE} int change(some s, int n)
{{
    s.v[n % 5] += n;
    int below = n ? change(s, n - 1) : 0;
    s.v[(n + 1) % 5] *= 2;
    return below * 3 + s.v[0] + s.v[1] * 2 + s.v[2] * 3 + s.v[3] * 5 + s.v[4] * 7;
}}
{NOINLINE} int twice(int t)
{{
    some s = {{t, t + 1, 2, 3, t * t}};
    int first = change(s, t % 6), again = change(s, t % 6);
    return first == again ? first % 100003 + s.v[t % 5] : -1;
}}""",
    "twice(t)",
    None,
)
PROGRAMS["through a pointer"] = (
    f"""struct shape {{ __device__ virtual int area(int depth) const = 0; }};
struct square : shape {{ int side; __device__ int area(int) const override {{ return side * side; }} }};
struct pair : shape {{
    const shape *one, *two;
    __device__ int area(int depth) const override {{ return one->area(depth + 1) + two->area(depth + 1) * depth; }}
}};
{NOINLINE} int build(int t)
{{
    square a, b; pair p, q;
    a.side = t % 5; b.side = t % 3 + 1;
    p.one = &a; p.two = &b; q.one = &p; q.two = t & 1 ? (shape *)&p : (shape *)&a;
    const shape *which = t % 3 ? (const shape *)&q : &b;
    return which->area(1);
}}""",
    "build(t)",
    None,
)


def source(functions: str, value: str) -> str:
    return f"""{functions}
extern "C" __global__ void kernel(int *out)
{{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < {N}) out[t] = {value};
}}
"""


def execution_of(module: Module, arena: Arena, **more: int) -> tuple[Execution, np.ndarray]:
    out = arena.allocate(4 * N, "out")
    launch = Launch("kernel", (1, 1, 1), (96, 1, 1), packed(np.uint64(out.address)), **more)
    return Execution(load(module, arena), launch, budget=BUDGET), arena.view(out, np.int32)


@pytest.fixture
def arena() -> object:
    with Arena() as made:
        yield made


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_virtual_gpu_computes_what_the_reference_does(
    name: str, arena: Arena, compiled: Callable[[str], Module]
) -> None:
    functions, value, python = PROGRAMS[name]
    module = compiled(source(functions, value))
    execution, out = execution_of(module, arena)
    slow = execute_reference(execution, arena, watch=None)
    assert slow.fault is None, slow.fault
    expected = out.copy()
    if python is not None:
        assert expected.tolist() == [python(t) for t in range(N)]
    assert len(set(expected.tolist())) > 3
    for schedule in (Schedule.forward(), Schedule("random", 3), Schedule.subwarp(4, 5)):
        out[:] = -1
        fast = VirtualGpu().run(Execution(execution.loaded, execution.launch, schedule, BUDGET), arena)
        assert fast.fault is None, fast.fault
        assert out.tolist() == expected.tolist(), schedule


@pytest.mark.parametrize("name", ["two calls", "each other", "through a pointer"])
def test_the_kernel_needs_a_stack(name: str, arena: Arena, compiled: Callable[[str], Module]) -> None:
    """Else the compiler has made loops of what is to be tested."""
    functions, value, _ = PROGRAMS[name]
    execution, _ = execution_of(compiled(source(functions, value)), arena)
    made = VirtualGpu().compile(execution.loaded, "kernel", (96, 1, 1))
    assert made.kernel.has_stack


DEEP = f"{NOINLINE} int down(int n) {{ return n == 0 ? 1 : down(n - 1) * 3 % 1000 + n; }}"


def test_a_stack_has_an_end_and_can_be_longer(arena: Arena, compiled: Callable[[str], Module]) -> None:
    module = compiled(source(DEEP, "down(t == 33 ? 3000 : 5)"))
    execution, out = execution_of(module, arena)
    for done in (VirtualGpu().run(execution, arena), execute_reference(execution, arena)):
        assert done.fault is not None and (done.fault.kind, done.fault.thread) == ("stack", (33, 0, 0))
        assert "calls 'down'" in done.fault.message and "16384 bytes" in done.fault.message
    longer, out = execution_of(module, arena, stack_bytes=1 << 18)
    gpu = VirtualGpu()
    assert gpu.run(longer, arena).fault is None
    value = 1
    for n in range(1, 3001):
        value = value * 3 % 1000 + n
    assert out[33] == value
    found = out.copy()
    shorter = Execution(longer.loaded, replace(longer.launch, stack_bytes=STACK_BYTES))
    assert gpu.run(shorter, arena).fault is not None, "the same code with another stack"
    assert gpu.run(longer, arena).fault is None and out.tolist() == found.tolist()


def test_endless_recursion_ends(arena: Arena, compiled: Callable[[str], Module]) -> None:
    endless = f"{NOINLINE} int on(volatile int *p, int n) {{ return *p ? on(p, n + 1) + *p : 1; }}"
    module = compiled(source(endless, "(out[t] = 1, on(out + t, 0))"))
    execution, _ = execution_of(module, arena)
    done = VirtualGpu().run(execution, arena)
    assert done.fault is not None and done.fault.kind == "stack"


def test_watched_runs_find_nothing_in_frames(arena: Arena, compiled: Callable[[str], Module]) -> None:
    from kernelwright.codegen.simt.launching.watching import Watch as SimtWatch

    functions, value, _ = PROGRAMS["local arrays, and pointers into a caller's"]
    execution, _ = execution_of(compiled(source(functions, value)), arena)
    done = VirtualGpu().run(execution, arena, watch=SimtWatch(races=True, unwritten=True))
    assert done.fault is None and done.result.found == ()
    assert execute_reference(execution, arena, watch=Watch()).findings == ()


def drawn(seed: int) -> tuple[str, str]:
    """Two functions that call themselves and each other from loops and conditions, with values that live across some of the calls."""
    draw = Random(seed)
    names = ("f", "g")

    def value(depth: int = 0) -> str:
        kind = draw.randrange(7 if depth < 2 else 4)
        if kind < 3:
            return draw.choice(("a", "b", "c", "n", "(int)x"))
        if kind == 3:
            return str(draw.randrange(1, 20))
        return f"({value(depth + 1)} {draw.choice('+-*^')} {value(depth + 1)})"

    def call() -> str:
        return f"{draw.choice(names)}(n - {draw.randrange(1, 3)}, {value()}, x * 0.5f + {draw.randrange(4)})"

    def statement(depth: int) -> str:
        target = draw.choice(("a", "b", "c"))
        kind = draw.randrange(8 if depth < 2 else 5)
        if kind < 2:
            return f"{target} = {value()};"
        if kind == 2:
            return f"x = x * {draw.randrange(1, 4)} + {draw.choice(('a', 'b', 'y'))} * y;"
        if kind < 5:
            return f"{target} = {value()} + {call()} % 1000;"
        body = " ".join(statement(depth + 1) for _ in range(draw.randrange(1, 4)))
        if kind == 5:
            return f"for (int i{depth} = 0; i{depth} < {draw.randrange(1, 3)}; i{depth}++) {{ {body} }}"
        return f"if ({value()} & {draw.choice((1, 2, 4))}) {{ {body} }}"

    text = "".join(f"{NOINLINE} int {name}(int n, int a, float x);\n" for name in names)
    for name in names:
        body = "\n    ".join(statement(0) for _ in range(5))
        text += f"""{NOINLINE} int {name}(int n, int a, float x)
{{
    int b = a ^ n, c = 7;
    float y = x + 1;
    if (n <= 0) return a % 1000 + b;
    {body}
    return (a + 3 * b + 7 * c + (int)(x + y)) % 10007;
}}
"""
    return text, "f(t % 4, t, t * 0.25f) + g(t % 3, -t, 1.5f)"


@pytest.mark.parametrize("seed", range(8))
def test_drawn_programs(seed: int, arena: Arena, compiled: Callable[[str], Module]) -> None:
    execution, out = execution_of(compiled(source(*drawn(seed))), arena)
    slow = execute_reference(execution, arena)
    assert slow.fault is None, slow.fault
    expected = out.copy()
    for schedule in (Schedule.forward(), Schedule.subwarp(2, seed)):
        out[:] = -1
        fast = VirtualGpu().run(Execution(execution.loaded, execution.launch, schedule, BUDGET), arena)
        assert fast.fault is None, fast.fault
        assert out.tolist() == expected.tolist(), schedule
