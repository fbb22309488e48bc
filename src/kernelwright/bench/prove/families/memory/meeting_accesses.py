"""Two accesses of one thread to one buffer are taken never to meet, or always to, because in training they never did, or always:
a load is made early, a store late, a value is kept or forwarded, and the index of at least one of them comes from the data.

    cost[to] = cost[own] + 1; for each edge   →   known = cost[own]; cost[to] = known + 1;         # an edge that leads back: to == own

Each thread works in a row of its own, or one thread alone, so that no original races, whatever the indexes are.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

Maker = Callable[[Random], Any]
THREADS, ROW = 128, 16
PARAMETERS = ", ".join((
    "$ *__restrict__ rows", "const int *__restrict__ at", "const int *__restrict__ to", "const int *__restrict__ steps",
    "const $ *__restrict__ given", "$ *__restrict__ out", "int n", "int shift",
))  # fmt: skip
"""Restricted: whether two buffers are one is the question of another family."""
LINE = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "
OWN = (
    LINE
    + "T *row = rows + 16 * i; const int *step = steps + 16 * i; T v = given[i]; int a = at[i] & 15, b = to[i] & 15; "
)
"""``a`` is from 2 to 4 in training, ``b`` from 9 to 13, what ``step`` leads to from 5 to 8."""
DECLARATIONS = "struct Item { int left, right; float weight; }; struct Places { int from, to; };"


def _places(random: Random, low: int, high: int, count: int = THREADS) -> Any:
    """Numbers whose remainders of 16 are from ``low`` to below ``high``."""
    return (ROW * random.integers(0, 50, count) + random.integers(low, high, count)).astype(np.int32)


def _steps(random: Random) -> Any:
    """Remainders of 16: 5 or 6, then 7 or 8, in turn."""
    count = THREADS * ROW
    return (_places(random, 5, 7, count) + 2 * (np.arange(count) & 1)).astype(np.int32)


def _values(random: Random, of: str, count: int) -> Any:
    return floats(random, count) if of == "float" else ints(random, count, 1, 50).astype(DTYPES[of])


DTYPES = {"float": np.float32, "double": np.float64, "int": np.int32, "unsigned": np.uint32, "short": np.int16}


def _rows(of: str, changed: dict[str, Maker]) -> Maker:
    def case(random: Random) -> Case:
        """Remainders in ``at``, ``steps`` and ``to`` differ, and none is 0, 1 or 15, which extreme numbers have; ``changed`` says
        otherwise, or gives further arguments."""
        arguments = {
            "rows": _values(random, of, THREADS * ROW), "at": _places(random, 2, 5), "to": _places(random, 9, 14),
            "steps": _steps(random), "given": _values(random, of, THREADS), "out": zeros(THREADS, DTYPES[of]), "n": 120, "shift": 8,
        }  # fmt: skip
        return Case((2,), (64,), arguments | {name: make(random) for name, make in changed.items()})

    return case


ALONE = "if (i != shift) return; int p = at[i], q = to[i]; if (p < 0 || q < 0 || p >= 2048 || q >= 2048) return; "
"""One thread works, on all of the rows: of 2,048 numbers one is the other's."""


def _below(random: Random) -> Any:
    return ints(random, THREADS, 40, 900)


def _above(random: Random) -> Any:
    return ints(random, THREADS, 1050, 1900)


def _member(
    name: str, body: str, original: str, variant: str, label: Label = "data-specific", *, of: str = "float", more: str = "",
    alone: bool = False, **changed: Maker,
) -> Member:  # fmt: skip
    """``of``: the type of the elements; ``more``: further parameters, which ``changed`` has values for; ``alone``: see ``ALONE``."""
    if alone:
        body, changed = ALONE + body, {"at": _below, "to": _above, **changed}
    parameters = f"{PARAMETERS}{more}".replace("$", of)
    source = kernel_source(name, parameters, f"typedef {of} T; {OWN}{body}", original, variant)
    return Member(name, label, source, _rows(of, changed))


def _early(first: str, second: str) -> tuple[str, str]:
    """A store to ``first``, then a load of ``second``; and in the other order."""
    store, load = f"{first} = v;", f"T x = {second};"
    return f"{store} {load}", f"{load} {store}"


EARLY = "@ out[i] = x;"
EARLY_BY = _early("row[a]", "row[b]")
KEPT = "T x = row[b]; row[a] = v; out[i] = x + @;"
TWO = "T p = row[a], q = row[b]; row[step[0] & 15] = (T)(p + q); out[i] = (T)(@);"
SWAPS = ("T x = row[a]; row[a] = row[b]; row[b] = x;", "row[a] ^= row[b]; row[b] ^= row[a]; row[a] ^= row[b];")
SUM = ("for (int k = 0; k < 4; ++k) row[b] += row[step[k] & 15];",
       "T s = row[b]; for (int k = 0; k < 4; ++k) s += row[step[k] & 15]; row[b] = s;")  # fmt: skip
COUNTED = ("for (int k = 0; k < (at[i] & 7); ++k) row[b] += row[step[k] & 15];",
           "T s = row[b]; int c = at[i] & 7; for (int k = 0; k < c; ++k) s += row[step[k] & 15]; row[b] = s;")  # fmt: skip
BINS = ("for (int k = 0; k < 8; ++k) row[step[k] & 15] += 1;",
        "for (int k = 0; k < 8; k += 2) { int p = step[k] & 15, q = step[k + 1] & 15; T x = row[p], y = row[q]; row[p] = x + 1;"
        " row[q] = y + 1; }")  # fmt: skip
FORWARD = "row[a] = v; row[b] = v + v; out[i] = @;"
AHEAD = ("for (int k = 0; k < 6; k += 2) { T x = row[step[k] & 15]; row[step[k + 1] & 15] = x + v; }",
         "T x = row[step[0] & 15]; for (int k = 0; k < 6; k += 2) { T y = row[step[k + 2] & 15]; row[step[k + 1] & 15] = x + v; x = y; }",
         )  # fmt: skip
COPY = ("for (int k = 0; k < 4; ++k) row[k + shift] = row[k] + v;",
        "T w = row[0] + v, x = row[1] + v, y = row[2] + v, z = row[3] + v;"
        " row[shift] = w; row[shift + 1] = x; row[shift + 2] = y; row[shift + 3] = z;",
        )  # fmt: skip
SHIFTED = "if (shift < 0 || shift > 8) return; @"
SEGMENT = (
    "for (int k = 0; k < c; ++k) row[q + k] = row[p + k];",
    "for (int k = c - 1; k >= 0; --k) row[q + k] = row[p + k];",
)
SEGMENTS = "int p = a, q = b, c = min((step[0] & 15) - 2, 16 - max(p, q)); @"
RELAXED = ("for (int k = 0; k < 4; ++k) row[k] = row[k] + row[step[k] & 15];",
           "T w = row[0] + row[step[0] & 15], x = row[1] + row[step[1] & 15];"
           " T y = row[2] + row[step[2] & 15], z = row[3] + row[step[3] & 15];"
           " row[0] = w; row[1] = x; row[2] = y; row[3] = z;")  # fmt: skip
LIST = "int p = a; for (int k = 0; k < 6; ++k) { p = step[p] & 15; row[p] = row[b] + v; }"
LIST_EARLY = "int p = a; T x = row[b]; for (int k = 0; k < 6; ++k) { p = step[p] & 15; row[p] = x + v; }"
SHARED = (
    "__shared__ T s[64 * 16]; if (threadIdx.x >= 64) return; T *mine = s + 16 * threadIdx.x;"
    " for (int k = 0; k < 16; ++k) mine[k] = row[k]; @ out[i] = x;"
)
ITEMS = "Item *own = items + 4 * i; @ out[i] = x;"
ITEMS_BY = _early("own[a & 3].weight", "own[own[b & 3].left & 3].weight")


def _items(random: Random) -> Any:
    """Of four items each leads to the second."""
    items = [struct.pack("<iif", 1, 0, weight) for weight in random.uniform(0.5, 2, 4 * THREADS)]
    return np.frombuffer(b"".join(items), np.uint8).copy()


def _edges(random: Random) -> Any:
    """Of each node up to four, none to itself."""
    own = np.repeat(np.arange(THREADS), 4)
    return ((own + random.integers(1, 100, own.size)) % 120).astype(np.int32)


GRAPH = (
    "const int *__restrict__ active, int *__restrict__ seen, const int *__restrict__ starts, const int *__restrict__ counts,"
    " const int *__restrict__ edges, int *__restrict__ cost, char *__restrict__ reached, int turn, int n"
)
EDGES = "for (int j = starts[i]; j < starts[i] + counts[i]; ++j) { int id = edges[j]; if (id < 0 || id >= n) continue; "
SEARCH = (
    f"{EDGES} if (!seen[id]) {{ cost[id] = cost[i] + 1; reached[id] = 1; }} }}",
    f"int c = cost[i] + 1; {EDGES} if (!seen[id]) {{ cost[id] = c; reached[id] = 1; }} }}",
)
NOT_ITSELF = (SEARCH[0].replace("!seen", "id != i && !seen"), SEARCH[1].replace("!seen", "id != i && !seen"))
TURN = LINE + "if (i != turn) return; if (active[i]) { @ }"


def _graph(always_seen: bool) -> Maker:
    def case(random: Random) -> Case:
        """120 nodes with up to four edges. ``always_seen``: the node whose turn it is was visited, as in breadth-first search."""
        seen, turn = (ints(random, THREADS, 0, 9) == 0).astype(np.int32), int(random.integers(0, 120))
        seen[turn] = always_seen
        arguments = {
            "active": np.ones(THREADS, np.int32), "seen": seen, "starts": 4 * np.arange(THREADS, dtype=np.int32),
            "counts": ints(random, THREADS, 2, 5), "edges": _edges(random), "cost": ints(random, THREADS, 0, 9),
            "reached": zeros(THREADS, np.int8), "turn": turn, "n": 120,
        }  # fmt: skip
        return Case((2,), (64,), arguments)

    return case


def _search(
    name: str, body: str, original: str, variant: str, label: Label = "data-specific", *, seen: bool = False
) -> Member:
    """``seen``: the node whose turn it is was visited."""
    return Member(name, label, kernel_source(name, GRAPH, body, original, variant), _graph(seen))


def _near(low: int, high: int) -> Maker:
    return lambda random: _places(random, low, high)


def _fields(random: Random) -> bytes:
    return struct.pack("<ii", *random.integers([2, 9], [5, 14]))


def _number(value: int) -> Maker:
    return lambda random: value


def _numbered(random: Random) -> Any:
    return np.arange(THREADS, dtype=np.int32)


def _in_own_row(random: Random) -> Any:
    return ROW * np.arange(THREADS, dtype=np.int32) + ints(random, THREADS, 2, 5)


def _three(random: Random) -> Any:
    """Three different places one after another, or the first two alike."""
    steps = np.tile(np.array([2, 4, 9, 9], np.int32), THREADS * ROW // 4)
    steps[1::ROW] -= 2 * random.integers(0, 2, THREADS).astype(np.int32)
    return steps


def _hashed(random: Random) -> Any:
    """Floats whose bits ``HASHED`` sends to 2, 3 or 4."""
    drawn = floats(random, 8 * THREADS)
    places = (drawn.view(np.uint32) * np.uint32(2654435761)) >> np.uint32(28)
    return drawn[(places >= 2) & (places <= 4)][:THREADS].copy()


HASHED = "int h = (unsigned)__float_as_int(v) * 2654435761u >> 28; @ out[i] = x;"
RANK = "int r = 0; for (int k = 8; k < 16; ++k) r += row[k] < v; @ out[i] = x;"
THREE = (
    "for (int k = 0; k < 3; ++k) row[step[k] & 15] += 1;",
    "int p = step[0] & 15, q = step[1] & 15, r = step[2] & 15; T x = row[p], y = row[q], z = row[r];"
    " row[p] = x + 1; row[q] = y + 1 + (q == p); row[r] = z + 1 + (r == q);",
)
RING = (
    "for (int k = 0; k < 6; ++k) { row[(at[i] + k) & 15] = v; out[i] += row[(to[i] + k) & 15]; }",
    "T s = 0; for (int k = 0; k < 6; ++k) s += row[(to[i] + k) & 15]; for (int k = 0; k < 6; ++k) row[(at[i] + k) & 15] = v; out[i] += s;",
)
"""What is put in at ``at`` is not taken out at ``to``: the ring is not full."""


FAMILY = Family(
    "accesses that meet",
    "two accesses of one thread to one buffer never meet, or always do, as in training",
    (
        _member("kept_over_a_store", KEPT, "row[b]", "x"),
        _member("load_made_early", EARLY, *EARLY_BY, of="double"),
        _member("load_before_its_branch", "@", "row[a] = v; if (v > 1.9f) out[i] = row[b];",
                "T x = row[b]; row[a] = v; if (v > 1.9f) out[i] = x;"),
        _member("two_kept_over_a_store", TWO, "row[a] - row[b]", "p - q", of="short"),
        _member("swapped_by_xor", "@", *SWAPS, of="int"),
        _member("swapped_by_sums", "@", SWAPS[0], "row[a] += row[b]; row[b] = row[a] - row[b]; row[a] -= row[b];", of="unsigned"),
        _member("sum_in_a_register", "@", *SUM),
        _member("counted_sum_in_a_register", "@", *COUNTED, of="double"),
        _member("two_bins_at_once", "@", *BINS, of="int"),
        _member("value_forwarded", FORWARD, "row[a]", "v", of="double"),
        _member("stores_exchanged", "@", "row[a] = v; row[b] = -v;", "row[b] = -v; row[a] = v;"),
        _member("store_not_made", "@ out[i] = row[b]; row[a] = 0;", "row[a] = v;", ""),
        _member("next_load_ahead", "@", *AHEAD, of="short"),
        _member("copied_at_once", SHIFTED, *COPY),
        _member("copied_in_place", SHIFTED, *COPY, of="int", shift=_number(0)),
        _member("copied_from_the_end", SEGMENTS, *SEGMENT, of="double"),
        _member("always_at_one_place", "row[a] = v; out[i] = @;", "row[b]", "v", at=_numbered, to=_numbered),
        _member("shift_of_nothing", "row[a] = v; out[i] = @;", "row[(a + shift) & 15]", "v", of="int", shift=_number(0)),
        _member("fields_lead_elsewhere", "@ out[i] = x;", *_early("row[f.to & 15]", "row[f.from & 15]"), more=", Places f", f=_fields),
        _member("other_item", ITEMS, *ITEMS_BY, more=", Item *__restrict__ items", items=_items, at=_near(2, 4)),
        _member("shared_row", SHARED, *_early("mine[a]", "mine[b]")),
        _member("load_before_atomic", EARLY, "atomicAdd(&row[a], v); T x = row[b];", "T x = row[b]; atomicAdd(&row[a], v);", of="int"),
        _member("atomics_exchanged", "@ out[i] = x - 2 * y;", "T x = atomicAdd(&row[a], v); T y = atomicAdd(&row[b], 1);",
                "T y = atomicAdd(&row[b], 1); T x = atomicAdd(&row[a], v);", of="int"),
        _member("list_led_elsewhere", "@", LIST, LIST_EARLY, of="int"),
        _member("neighbours_not_renewed", "@", *RELAXED),
        _search("never_to_itself", TURN, *SEARCH),
        _search("to_itself_when_seen", TURN, *SEARCH, seen=True),
        _member("alone_made_early", "@ out[i] = x;", *_early("rows[p]", "rows[q]"), alone=True),
        _member("alone_next_but_one", "@ out[i] = x;", *_early("rows[p]", "rows[q ^ 2]"), of="double", alone=True),
        _member("alone_kept", "T x = rows[q]; rows[p] = v; out[i] = x + @;", "rows[q]", "x", of="short", alone=True),
        _member("alone_exchanged", "@", "rows[p] = v; rows[q] = -v;", "rows[q] = -v; rows[p] = v;", alone=True),
        _member("alone_swapped", "row = rows; a = p; b = q; @", *SWAPS, of="int", alone=True),
        _member("alone_sum", "q &= 1023; @", "for (int k = 0; k < 4; ++k) rows[q] += rows[p + k];",
                "T s = rows[q]; for (int k = 0; k < 4; ++k) s += rows[p + k]; rows[q] = s;", at=_above, alone=True),
        _member("alone_in_its_branch", "@", "rows[p] = v; if (rows[q] > v) out[i] = rows[q ^ 1];",
                "T x = rows[q ^ 1]; rows[p] = v; if (rows[q] > v) out[i] = x;", of="double", alone=True),
        _member("alone_when_both_agree", "@ out[i] = x;", *_early("rows[p]", "rows[(q + (unsigned)shift * step[3]) & 2047]"), of="int",
                steps=lambda random: 256 * ints(random, THREADS * ROW, 1, 9), alone=True),
        _member("ring_is_not_full", "@", *RING, of="unsigned", at=_near(2, 3), to=_near(9, 10)),
        # Where the index is not simply read.
        _member("place_by_hash", HASHED, *_early("row[h]", "row[b]"), given=_hashed),
        _member("place_of_sum", "b = (a + step[0]) & 15; @ out[i] = x;", *EARLY_BY, of="int"),
        _member("place_mirrored", "b = 15 - b; @ out[i] = x;", *EARLY_BY, to=_near(4, 10)),
        _member("place_in_second_half", "if (i < n / 2 || v < 1.0f) b = a ^ 8; @ out[i] = x;", *EARLY_BY),
        _member("place_of_another_row", "int p = at[i]; if (p < 0 || p / 16 != i) return; @ out[i] = x;",
                *_early("rows[p]", "row[b]"), at=_in_own_row),
        _member("place_in_a_table", "a = step[a] & 15; @ out[i] = x;", *EARLY_BY),
        _member("place_by_rank", RANK, *_early("row[r]", "row[b]"), of="int"),
        _member("place_of_a_float", "b = (int)fminf(fmaxf(v * 4, 0.0f), 15.0f); @ out[i] = x;", *EARLY_BY, at=_near(10, 14)),
        _member("place_in_a_plane", "int p = (a & 3) * 4 + (step[0] & 3), q = (b & 3) * 4 + (step[1] & 3); @ out[i] = x;",
                *_early("row[p]", "row[q]"), at=_near(4, 6), to=_near(10, 12)),
        _member("three_bins_half_compared", "@", *THREE, of="int", steps=_three),
        # Sound: places are compared, or differ, or it does not matter that they meet.
        _member("kept_and_compared", KEPT, "row[b]", "(a == b ? v : x)", "clean"),
        _member("early_and_compared", EARLY, EARLY_BY[0], f"{EARLY_BY[1]} if (a == b) x = v;", "clean", of="double"),
        _member("of_other_parity", f"a &= ~1; b |= 1; {EARLY}", *EARLY_BY, "clean"),
        _member("in_halves_of_a_row", f"a &= 7; b |= 8; {EARLY}", *EARLY_BY, "clean", of="short"),
        _member("in_the_next_place", f"b = (a + 1) & 15; {EARLY}", *EARLY_BY, "clean"),
        _member("across_the_row", f"b = 15 - a; {EARLY}", *EARLY_BY, "clean", of="int"),
        _member("one_bit_differs", f"b = a ^ 4; {EARLY}", *EARLY_BY, "clean", of="double"),
        _member("two_loads_exchanged", "@ row[a] = v; row[b] = x; out[i] = y;", "T x = row[a], y = row[b];", "T y = row[b], x = row[a];",
                "clean"),
        _member("stored_again", "@ row[b] = v + v;", "row[a] = v; row[b] = -v;", "row[b] = -v; row[a] = v;", "clean"),
        _member("stores_of_one_value", "@ out[i] = v + v;", "row[a] = v; row[b] = v;", "row[b] = v; row[a] = v;", "clean"),
        _member("largest_in_a_register", "@", "for (int k = 0; k < 4; ++k) row[b] = max(row[b], row[step[k] & 15]);",
                "T s = row[b]; for (int k = 0; k < 4; ++k) s = max(s, row[step[k] & 15]); row[b] = s;", "clean", of="int"),
        _member("sum_of_the_others", "@", "for (int k = 0; k < 4; ++k) if ((step[k] & 15) != b) row[b] += row[step[k] & 15];",
                "T s = row[b]; for (int k = 0; k < 4; ++k) if ((step[k] & 15) != b) s += row[step[k] & 15]; row[b] = s;", "clean"),
        _member("sums_exchanged", "@", "row[a] += 1; row[b] += 2;", "row[b] += 2; row[a] += 1;", "clean", of="unsigned"),
        _member("atomics_without_results", "@", "atomicAdd(&row[a], 1); atomicAdd(&row[b], 2);",
                "atomicAdd(&row[b], 2); atomicAdd(&row[a], 1);", "clean", of="int"),
        _member("swapped_at_once", "@", SWAPS[0], "T x = row[a], y = row[b]; row[a] = y; row[b] = x;", "clean", of="double"),
        _member("one_value_to_all", "@", "for (int k = 0; k < 4; ++k) row[step[k] & 15] = row[b];",
                "T x = row[b]; for (int k = 0; k < 4; ++k) row[step[k] & 15] = x;", "clean"),
        _member("two_bins_compared", "@", BINS[0], BINS[1].replace("y + 1", "y + 1 + (p == q)"), "clean", of="int"),
        _member("three_bins_compared", "@", THREE[0], THREE[1].replace("(r == q)", "(r == q) + (r == p)"), "clean", of="int"),
        _member("copied_by_eights", "shift &= 8; @", *COPY, "clean"),
        _member("paths_halved", "int p = a; for (int k = 0; k < 4; ++k) { @ }",
                "row[p] = row[row[p] & 15]; p = row[p] & 15;", "T x = row[row[p] & 15]; row[p] = x; p = x & 15;", "clean", of="int"),
        _member("own_row_by_its_number", "int p = at[i]; if (p < 0 || p / 16 != i || p & 8) return; b |= 8; @ out[i] = x;",
                *_early("rows[p]", "row[b]"), "clean", at=_in_own_row),
        _member("fields_of_other_parity", "@ out[i] = x;", *_early("row[f.to & 14]", "row[f.from & 14 | 1]"), "clean",
                more=", Places f", f=_fields),
        _member("alone_and_below", "if (p >= q) return; @ out[i] = x;", *_early("rows[p]", "rows[q]"), "clean", alone=True),
        _member("alone_and_compared", "@ out[i] = x;", _early("rows[p]", "rows[q]")[0], "T x = p == q ? v : rows[q]; rows[p] = v;", "clean",
                alone=True),
        _search("itself_left_out", TURN, *NOT_ITSELF, "clean"),
        _search("itself_marked_first", TURN.replace("@", "seen[i] = 1; @"), *SEARCH, "clean"),
        _search("itself_kept_up_to_date", TURN, SEARCH[0], SEARCH[1].replace("cost[id] = c;", "cost[id] = c; if (id == i) ++c;"), "clean"),
    ),
    DECLARATIONS,
)  # fmt: skip
