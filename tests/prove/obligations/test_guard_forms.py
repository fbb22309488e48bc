"""A guard as JSON, in Python and in C admits the same launches: what a proof took for granted is what an exported kernel asks."""

from __future__ import annotations

import ctypes
import math
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import ziglang
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.edits.kinds.require_launch import guard_json, guard_of
from kernelwright.guards import Apart, AtStart, BlockIs, BlockIsWarp, GridIs, Guard, LaunchFacts
from kernelwright.launch import Launch
from kernelwright.launch_relations import Divisible, Product, Quantity, Relation, Sum
from kernelwright.space.engine.compiled_c import FLAGS
from kernelwright.stories import export

POINTERS, WHOLE, LONG, STRUCT = range(3), 3, 4, 5
EXPORTED = Path(export.__file__).parent / "exported"
EXTREME = [0, 1, -1, 4, 64, 255, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63), 2**63, 2**70, -(2**70)]
EXTENTS = [1, 2, 3, 16, 32, 33, 1024]


def random_sum(draw: random.Random) -> Sum:
    return tuple(
        Product(draw.choice([1, -1, 4, -4, *EXTREME]), tuple(random_quantity(draw) for _ in range(draw.randrange(3))))
        for _ in range(draw.randint(1, 3))
    )


def random_quantity(draw: random.Random) -> Quantity:
    source = draw.choice(["argument", "grid", "block", "bytes"])
    if source == "argument":
        offset, size = draw.choice([(0, 1), (4, 4), (8, 8), (14, 2)])
        index, offset, size = draw.choice([(WHOLE, 0, 4), (LONG, 0, 8), (STRUCT, offset, size)])
        return Quantity("argument", index, offset, size, draw.random() < 0.7)
    return Quantity(source, draw.randrange(3))  # type: ignore[arg-type]


def random_guard(draw: random.Random) -> Guard:
    def shape() -> tuple[int, int, int]:
        return draw.choice(EXTENTS), draw.choice([1, 2]), 1

    kinds: list[Any] = [
        lambda: Relation(random_sum(draw), draw.choice(["==", "<=", ">="]), random_sum(draw)),
        lambda: Relation((Product(1, (random_quantity(draw),)),), draw.choice(["<=", ">="]), random_sum(draw)),  # type: ignore[arg-type]
        lambda: Divisible(random_sum(draw), draw.choice([1, 2, 3, 4, 256, 2**40])),
    ]
    others = [lambda: BlockIs(shape()), lambda: GridIs(shape()), BlockIsWarp, lambda: AtStart(draw.randrange(3))]
    others.append(lambda: Apart(draw.randrange(3)))
    return draw.choice([*kinds, *kinds, *others])()  # type: ignore[no-any-return]


def random_launch(draw: random.Random) -> tuple[LaunchFacts, list[Any]]:
    """The facts of a launch, and its arguments as Python has them: arrays, views of them, and null."""
    first, second = np.zeros(draw.choice([1, 16, 64]), np.float32), np.zeros(64, np.float32)
    views = [
        lambda a: a,
        lambda a: a,
        lambda a: a[a.size // 2 :],
        lambda a: a[: a.size // 2 + 1],
        lambda a: a[::-1],
        lambda a: a[::2],
    ]
    arrays = [draw.choice(views)(draw.choice([first, second])) if draw.random() < 0.9 else None for _ in POINTERS]
    numbers: list[Any] = [
        np.int32(draw.choice(EXTREME[:8])),
        np.int64(draw.choice(EXTREME[:11])),
        np.void(draw.randbytes(16)),
    ]
    regions, data = [], []
    for array in arrays:
        if array is None:
            regions.append(None)
            data.append(bytes(8))
            continue
        owner = first if np.shares_memory(array, first) else second
        begin = owner.ctypes.data
        regions.append(range(begin, begin + owner.nbytes))
        data.append(array.ctypes.data.to_bytes(8, "little"))
    extents = [(draw.choice(EXTENTS), draw.choice([1, 2]), 1) for _ in range(2)]
    launch = Launch("k", *extents)
    return LaunchFacts(launch, (*data, *(n.tobytes() for n in numbers)), (*regions, None, None, None)), [
        *arrays,
        *numbers,
    ]


def in_python() -> dict[str, Any]:
    """The functions that an exported ``load.py`` has."""
    text = (EXPORTED / "load.py.jinja").read_text()
    found: dict[str, Any] = {"math": math}
    exec(text[text.index("def _holds") : text.index("def on_kernelwright")], found)
    exec(text[text.index("def _bytes") : text.index("_CHECKS = ")], found)
    return found


PYTHON = in_python()


def python_admits(guard: Guard, facts: LaunchFacts, arguments: list[Any]) -> bool:
    check = eval(f"lambda grid, block, arguments: {guard.as_python()}", PYTHON)
    return bool(PYTHON["_holds"](check, facts.launch.grid, facts.launch.block, arguments))


@given(st.integers(0, 2**64))
@settings(max_examples=300, deadline=None)
def test_json_and_python_admit_what_the_guard_does(seed: int) -> None:
    draw = random.Random(seed)
    guard = random_guard(draw)
    if not isinstance(guard, BlockIs | GridIs | BlockIsWarp):  # those are made by edits of their own
        assert guard_of(guard_json(guard)) == guard  # type: ignore[arg-type]
    for _ in range(4):
        facts, arguments = random_launch(draw)
        admitted = python_admits(guard, facts, arguments)
        # A view knows its own bytes alone: then less may be admitted, and never more.
        if any(getattr(each, "base", None) is not None for each in arguments[:3]):
            assert guard.holds(facts) or not admitted, (str(guard), guard.as_python(), facts)
        else:
            assert guard.holds(facts) == admitted, (str(guard), guard.as_python(), facts)


FAKE = """
#include <string.h>
#include <stddef.h>
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS };
static unsigned long long regions[6];
static int cuMemGetAddressRange(CUdeviceptr *start, size_t *size, CUdeviceptr pointer)
{
    for (int k = 0; k < 6; k += 2)
        if (regions[k] <= pointer && pointer < regions[k + 1]) { *start = regions[k]; *size = regions[k + 1] - regions[k]; return 0; }
    return 1;
}
void set(int index, unsigned long long value) { regions[index] = value; }
"""
CHECK = """
int check_{number}(const unsigned *grid, const unsigned *block, void **arguments)
{{
    static const int pointers[] = {{0, 1, 2, -1}};
    int known = 1, holds = {test};
    (void)pointers;
    return holds && known;
}}
"""


def in_c(guards: list[Guard], folder: Path) -> ctypes.CDLL:
    """The checks of an exported header, compiled."""
    text = (EXPORTED / "dispatch.h.jinja").read_text()
    helpers = text[text.index("static inline __int128 kw_plus") : text.index("/* The code for this GPU")]
    checks = [CHECK.format(number=number, test=guard.as_c()) for number, guard in enumerate(guards)]
    (folder / "checks.c").write_text("\n".join([FAKE, helpers, *checks]))
    zig = Path(ziglang.__file__).parent / "zig"
    command = [
        zig,
        "cc",
        *FLAGS,
        "-Wno-unused-parameter",
        "-Wno-unused-function",
        "-o",
        folder / "checks.so",
        folder / "checks.c",
    ]
    subprocess.run(list(map(str, command)), check=True, cwd=folder)
    return ctypes.CDLL(str(folder / "checks.so"))


def test_c_admits_what_the_guard_does(tmp_path: Path) -> None:
    draw = random.Random(5)
    guards = [random_guard(draw) for _ in range(300)]
    compiled = in_c(guards, tmp_path)
    admitted = 0
    for number, guard in enumerate(guards):
        for _ in range(8):
            facts, _ = random_launch(draw)
            for index, region in enumerate(facts.regions[:3]):
                for end, value in enumerate((region.start, region.stop) if region is not None else (0, 0)):
                    compiled.set(2 * index + end, ctypes.c_ulonglong(value))
            arguments = [ctypes.create_string_buffer(data, len(data)) for data in facts.arguments]
            passed = (ctypes.c_void_p * 6)(*map(ctypes.addressof, arguments))
            extents = [(ctypes.c_uint * 3)(*extent) for extent in (facts.launch.grid, facts.launch.block)]
            found = bool(compiled[f"check_{number}"](*extents, passed))
            # Where a number needs more than 128 bits, none is admitted.
            assert found == guard.holds(facts) or (is_large(guard) and not found), (str(guard), guard.as_c(), facts)
            admitted += found
    assert 300 < admitted < 2000


def is_large(guard: Guard) -> bool:
    """Whether it multiplies numbers of 64 bits with others than small ones."""
    sums = (
        (guard.left, guard.right)
        if isinstance(guard, Relation)
        else (guard.sum,)
        if isinstance(guard, Divisible)
        else ()
    )
    return any(
        abs(p.factor).bit_length() + sum(8 * q.size if q.source == "argument" else 40 for q in p.quantities) > 126
        for side in sums
        for p in side
    )
