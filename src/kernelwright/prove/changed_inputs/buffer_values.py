"""What can be done to the values of a buffer, by words: the ways that changed inputs are made in.

[3, 1, 2] reversed: [2, 1, 3]     drawn anew: [1, 1, 3]     negated: [-3, -1, -2]     some of them 7: [3, 7, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.prove.changed_inputs.comparison_constants import floats_like, ints_like

Values = NDArray[Any]
Random = np.random.Generator
Way = Callable[[Values, Random], Values]


def _some(values: Values, random: Random, others: Sequence[Any], share: float = 0.25) -> Values:
    """The values, a share of them exchanged."""
    made = values.copy()
    where = random.random(values.size) < share
    where[: min(1, values.size)] = True
    made[where] = random.choice(np.array(others, values.dtype), int(where.sum()))
    return made


def _extremes(dtype: np.dtype[Any]) -> list[Any]:
    if dtype.kind == "f":
        about, values_type = np.finfo(dtype), dtype.type
        extreme = [0.0, 1.0, -1.0, about.max / 4, -about.max / 4, about.tiny, -about.tiny, about.smallest_subnormal]
        # Halfway between whole numbers, and just below: where ways of rounding differ.
        return [*extreme, 0.5, -1.5, 2.5, np.nextafter(values_type(0.5), values_type(0.0))]
    about_int = np.iinfo(dtype)
    return [0, 1, -1, about_int.max, about_int.min]


def exchanged(others: Sequence[Any], share: float = 0.25) -> Way:
    """A share of the values become some of ``others``."""
    return lambda v, r: _some(v, r, others, share)


def _noise(values: Values, random: Random) -> Values:
    scale = np.nan_to_num(np.abs(values.astype(np.float64))).max(initial=0.0) or 1.0
    return (values + random.standard_normal(values.size) * min(scale, 1e30)).astype(values.dtype)


def _far(values: Values, random: Random) -> Values:
    return np.asarray(values * values.dtype.type(1000 if values.dtype.itemsize > 1 else 5))


def _distinct(values: Values, random: Random) -> Values:
    return random.permutation(values.size).astype(values.dtype)


def _two(values: Values, random: Random) -> tuple[Any, Any]:
    """Two values of the buffer that differ; where all are equal, the second is one more."""
    one = values[values.size // 2]
    others = values[values != one]
    return one, others[random.integers(others.size)] if others.size else one + values.dtype.type(1)


def _halves(values: Values, random: Random) -> Values:
    one, other = _two(values, random)
    made = np.full_like(values, one)
    made[(values.size + 1) // 2 :] = other
    return made


def _but_the_last(values: Values, random: Random) -> Values:
    pair = _two(values, random)
    made = np.full_like(values, min(pair))
    made[-1:] = max(pair)
    return made


def _but_the_first(values: Values, random: Random) -> Values:
    pair = _two(values, random)
    made = np.full_like(values, max(pair))
    made[:1] = min(pair)
    return made


EVERY_SORT = "with values of every sort"
EACH_COUNTS: dict[str, Way] = {
    "all equal but the last, which is larger": _but_the_last,
    "all equal but the first, which is smaller": _but_the_first,
    "equal in each half, and not in both": _halves,
}
"""Where each element can be missed. Of data that are alike everywhere a part may stand for all: who marks what is there at all
need not read the rest."""


def _every_sort(values: Values, random: Random) -> Values:
    """Half of the values exchanged: for extreme ones, for themselves negated, moved a little, or far away. All of them are numbers."""
    sorts = [
        random.choice(np.array(_extremes(values.dtype), values.dtype), values.size),
        -values,
        _noise(values, random),
    ]
    sorts += (
        [_far(values, random), values + values.dtype.type(1)]
        if values.dtype.kind != "f"
        else [values * values.dtype.type(1.5)]
    )
    made = values.copy()
    drawn = random.integers(0, 2 * len(sorts), values.size)
    for number, others in enumerate(sorts):
        made[drawn == number] = others[drawn == number]
    return made


FLOAT_WAYS: dict[str, Way] = {
    "in another order": lambda v, r: r.permutation(v),
    "negated": lambda v, r: -v,
    **EACH_COUNTS,
    "with noise": _noise,
    "a thousand times as large": _far,
    "all zero": lambda v, r: np.zeros_like(v),
    "some of them extreme": lambda v, r: _some(v, r, _extremes(v.dtype)),
    "all equal": lambda v, r: np.full_like(v, v[v.size // 2]),
    "some of them infinite or not a number": lambda v, r: _some(v, r, [np.inf, -np.inf, np.nan, -0.0]),
    "sorted": lambda v, r: np.sort(v),
    "reversed": lambda v, r: v[::-1],
    "a thousandth as large": lambda v, r: v * v.dtype.type(1e-3),
    EVERY_SORT: _every_sort,
}
INTEGER_WAYS: dict[str, Way] = {
    **EACH_COUNTS,
    "in another order": lambda v, r: r.permutation(v),
    "all zero": lambda v, r: np.zeros_like(v),
    "drawn anew from themselves": lambda v, r: r.choice(v, v.size),
    "negated": lambda v, r: -v,
    "further apart": _far,
    "some of them zero or one": lambda v, r: _some(v, r, [0, 1]),
    "all equal": lambda v, r: np.full_like(v, v[v.size // 2]),
    "some of them extreme": lambda v, r: _some(v, r, _extremes(v.dtype)),
    "all different": _distinct,
    "reversed": lambda v, r: v[::-1],
    "sorted": lambda v, r: np.sort(v),
    EVERY_SORT: _every_sort,
}
BOOLEAN_WAYS: dict[str, Way] = {
    "in another order": lambda v, r: r.permutation(v),
    "all zero": lambda v, r: np.zeros_like(v),
    "all one": lambda v, r: np.ones_like(v),
    "each the other one": lambda v, r: 1 - v,
    "drawn anew": lambda v, r: r.integers(0, 2, v.size).astype(v.dtype),
    "one of them alone": lambda v, r: (np.arange(v.size) == r.integers(max(v.size, 1))).astype(v.dtype),
}
"""For truth values: another number than 0 and 1 is none."""
UNKNOWN_WAYS: dict[str, Way] = {
    "all zero": lambda v, r: np.zeros_like(v),
    "drawn anew from themselves": lambda v, r: r.choice(v, v.size),
}
"""For memory of mixed types, as words of four bytes."""
POINTER_WAYS: dict[str, Way] = {
    "its pointers in another order": lambda v, r: r.permutation(v),
    "its pointers reversed": lambda v, r: v[::-1],
    "its pointers all the last one": lambda v, r: np.full_like(v, v[-1]),
}
"""For memory that holds pointers: of these alone. All other ways leave them as they are."""
SPREAD = 128
"""One of so many elements differs where a few do: few enough that some warps have none, also of a block of two."""
LANES = 32


def _few_others(values: Values, random: Random, others: Any) -> Values:
    """Some few of the values, one at least, become ``others``."""
    where = random.random(values.size) * SPREAD < 1
    where[random.integers(values.size)] = True
    made = values.copy()
    made[where] = others
    return made


def _few(values: Values, random: Random, all: Any, others: Any) -> Values:
    return _few_others(np.full_like(values, all), random, others)


def _far_off(values: Values, sign: int) -> Any:
    """A number far above all others of the buffer and above zero, or far below."""
    if values.dtype.kind == "f":
        largest = np.abs(values[np.isfinite(values)].astype(np.float64)).max(initial=1.0)
        return sign * min(1000 * largest, float(np.finfo(values.dtype).max) / 4)
    about = np.iinfo(values.dtype)
    largest = max(1, -int(values.min()), int(values.max()))
    return max(about.min, min(about.max, sign * 1000 * largest))


def _turns(values: Values, random: Random) -> Values:
    """In turn as many of the smallest and of the largest as a warp has lanes; either comes first."""
    turn = (np.arange(values.size) // LANES + random.integers(2)) % 2
    return np.asarray(np.where(turn == 1, values.max(), values.min()), values.dtype)


FEW_WAYS: dict[str, Way] = {
    "all the smallest but for a few, which are the largest": lambda v, r: _few(v, r, v.min(), v.max()),
    "all far above but for a few, far below": lambda v, r: _few(v, r, _far_off(v, 1), _far_off(v, -1)),
    "all far below but for a few, far above": lambda v, r: _few(v, r, _far_off(v, -1), _far_off(v, 1)),
    "all the largest but for a few, which are the smallest": lambda v, r: _few(v, r, v.max(), v.min()),
    "a few of them far above": lambda v, r: _few_others(v, r, _far_off(v, 1)),
    "a few of them far below": lambda v, r: _few_others(v, r, _far_off(v, -1)),
    "all zero but for a few": lambda v, r: _few(v, r, 0, v.max() or 1),
    "the smallest and the largest by turns of 32": _turns,
}
"""What some warps of a block meet and others do not: data that are alike in this let a warp's answer stand for its block's."""
FEW_BOOLEAN_WAYS: dict[str, Way] = {
    "all zero but for a few": lambda v, r: _few(v, r, 0, 1),
    "all one but for a few": lambda v, r: _few(v, r, 1, 0),
    "zero and one by turns of 32": lambda v, r: ((np.arange(v.size) // LANES + r.integers(2)) % 2).astype(v.dtype),
}
TELLING = (
    EVERY_SORT, "some of them infinite or not a number", "in another order", "some of them extreme", "negated", "with noise",
    "drawn anew from themselves", "further apart", "all different", "all equal",
)  # fmt: skip
"""The ways that tell most of a single element, in their order."""
MILD = ("in another order", "reversed", "drawn anew from themselves", "drawn anew", "sorted")
"""Ways that keep the values there are."""
WORD: np.dtype[Any] = np.dtype("<u4")


def as_elements(compared: Sequence[int | float], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Constants, with their neighbours, as elements of a buffer."""
    if dtype.kind == "f":
        return floats_like(compared, dtype)
    return ints_like(compared, 8 * dtype.itemsize, signed=dtype.kind == "i")


def type_by_content(content: NDArray[np.uint8]) -> np.dtype[Any] | None:
    """What memory seems to hold whose type no access tells: single-precision numbers, small whole numbers, or neither."""
    words = content[: content.size // 4 * 4].view("<u4")
    words = words[words != 0][:4096]
    if not words.size:
        return None
    with np.errstate(all="ignore"):
        size = np.abs(words.view("<f4"))
        if np.all((size > 1e-12) & (size < 1e12)):
            return np.dtype("<f4")
    small = np.abs(words.view("<i4").astype(np.int64)) < 1 << 20
    return np.dtype("<i4") if np.all(small) else None
