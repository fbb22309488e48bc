"""Rules of comparison: how far an output lies from what it should be, as one figure. 0 is exact.

A rule is a frozen value. ``judge`` compares two arrays by it and accepts up to the rule's tolerance. Two NaNs are equal, as
are two infinities of one sign and the two zeros; a NaN or an infinity in one array alone is infinitely far off. Arrays of
other shape or element type never agree. What a rule is judged *against* is its name:

    exact                          nothing may differ
    absolute 1e-3                  |found - expected|
    relative 1e-3 floor 1e-6       ... / max(|expected|, floor)
    ulp 4                          representable numbers between the two, in their own format
    change 1%                      ... / the change that was made: see ``Change``
    spread 1%                      ... / the spread of the expected values
    gevo 1%                        the definition of paper 000, section 4.3: see ``Gevo``
    metric module:function 0.01    what a user's function of (found, expected) returns
    ignore                         not compared: scratch memory
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Array = NDArray[Any]
MetricFunction = Callable[[Array, Array], float]


@dataclass(frozen=True, eq=False)
class Given:
    """What a rule may look at besides the two arrays: the memory as it was before."""

    before: Array | None = None
    """This buffer's own content before, in its shape and type."""
    inputs: tuple[Array, ...] = ()
    """Other buffers' contents before, those of the same shape and type."""


NOTHING_GIVEN = Given()


class Rule(Protocol):
    """How one output is compared."""

    @property
    def tolerance(self) -> float:
        """The largest figure that is accepted."""

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        """The error of each element, or one figure for all in an array without dimensions.

        Both arrays are of one shape and of one integer or real type.
        """


@dataclass(frozen=True)
class Verdict:
    """What came of a comparison."""

    figure: float
    """The error: 0 is exact, infinite where no figure means anything."""
    accepted: bool
    sentence: str = ""
    """Why it was not accepted: the worst element, or what does not fit."""


# -- the rules ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exact:
    """Nothing may differ; the figure is the largest difference."""

    tolerance: ClassVar[float] = 0.0

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return distance(found, expected)

    def __str__(self) -> str:
        return "exact"


@dataclass(frozen=True)
class Ignore:
    """Whatever the buffer holds is right."""

    tolerance: ClassVar[float] = 0.0

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return np.zeros(())

    def __str__(self) -> str:
        return "ignore"


@dataclass(frozen=True)
class Absolute:
    """The difference itself."""

    tolerance: float

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return distance(found, expected)

    def __str__(self) -> str:
        return f"absolute {self.tolerance!r}"


@dataclass(frozen=True)
class Relative:
    """The difference against the expected element. Below ``floor`` elements count as that large: without one, an
    expected zero allows nothing but zero."""

    tolerance: float
    floor: float = 0.0

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return _ratio(distance(found, expected), np.maximum(_magnitude(expected), self.floor))

    def __str__(self) -> str:
        return f"relative {self.tolerance!r}" + (f" floor {self.floor!r}" if self.floor else "")


@dataclass(frozen=True)
class Ulp:
    """Steps between neighbouring numbers of the elements' own type; of integers, the difference."""

    tolerance: float

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        far = distance(found, expected)
        if expected.dtype.kind != "f":
            return far
        steps = _unsigned_difference(_ordered(found), _ordered(expected)).astype(np.float64)
        return np.where(np.isfinite(far), np.where(far == 0, 0.0, steps), far)

    def __str__(self) -> str:
        return f"ulp {self.tolerance!r}"


@dataclass(frozen=True)
class Change:
    """The difference against the change that the program makes, the largest against the largest.

    The change is the distance from the expected values to what was there before: this buffer's own content, or an input
    of the same shape, whichever lies nearest, so that a program that writes a changed copy is judged by what it changed.
    Leaving everything as it was has an error of 1 or more. Where memory held nothing of meaning before, the values' own
    spread or size is less than that distance, and counts instead (a spread of a thousand roundings or less is none). A
    buffer that should not change must not change.
    """

    tolerance: float

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return _ratio(distance(found, expected), _change(expected, given))

    def __str__(self) -> str:
        return f"change {self.tolerance!r}"


@dataclass(frozen=True)
class Spread:
    """The difference against the spread of the expected values: between their 5th and 95th percentile, or between the
    least and the largest where those are equal. Where all are equal nothing may differ."""

    tolerance: float

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return _ratio(distance(found, expected), _spread(expected))

    def __str__(self) -> str:
        return f"spread {self.tolerance!r}"


@dataclass(frozen=True)
class Gevo:
    """Paper 000, section 4.3: "the maximum difference between outputs", as the authors' program computes it: relative to
    each expected number's raw size.

    Kept for comparison with the paper. Where a program adds small changes to large values, doing nothing can pass it.
    (The authors' program leaves out the absolute value in the denominator, so that any deviation of a negative number
    passes; that is not kept.)
    """

    tolerance: float

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        return _ratio(distance(found, expected), _magnitude(expected))

    def __str__(self) -> str:
        return f"gevo {self.tolerance!r}"


@dataclass(frozen=True)
class Metric:
    """A figure of the user's own: ``function(found, expected)``, called on the arrays as they are. Below 0 counts as 0.

    ``function`` is a callable, or the text ``module:function``. One that fails, or returns no number, rejects the candidate.
    """

    function: MetricFunction | str
    tolerance: float

    def errors(self, found: Array, expected: Array, given: Given) -> NDArray[np.float64]:
        figure = float(self.load()(found, expected))
        return np.array(math.inf if math.isnan(figure) else max(figure, 0.0))

    def load(self) -> MetricFunction:
        """The function. Raises ``Misuse`` when ``module:function`` names none."""
        if not isinstance(self.function, str):
            return self.function
        module, _, name = self.function.partition(":")
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise Misuse(
                f"there is no metric {self.function!r} ({error})",
                hint="write module:function, and put the module on PYTHONPATH",
            ) from error
        if not callable(found):
            raise Misuse(f"{self.function!r} is no function", hint="name a function of (found, expected)")
        return cast(MetricFunction, found)

    def __str__(self) -> str:
        function = self.function
        if not isinstance(function, str):
            function = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', repr(function))}"
        return f"metric {function} {self.tolerance!r}"


# -- comparing ---------------------------------------------------------------------------------------------------------


def judge(rule: Rule, found: Array, expected: Array, given: Given = NOTHING_GIVEN) -> Verdict:
    """Compares ``found`` with ``expected`` by ``rule``. Never raises for what a candidate may have produced."""
    if isinstance(rule, Ignore):
        return Verdict(0.0, True)
    if found.shape != expected.shape:
        return Verdict(math.inf, False, f"has shape {found.shape}, expected {expected.shape}")
    if found.dtype != expected.dtype:
        return Verdict(math.inf, False, f"has elements of type {found.dtype}, expected {expected.dtype}")
    if isinstance(rule, Metric):
        return _judge_metric(rule, found, expected, given)
    if _same_bytes(found, expected):
        return Verdict(0.0, True)
    numbers = expected.dtype.kind in "biufc"
    left, right = _plain(found), _plain(expected)
    # Records and text have no size to be relative to.
    errors = (rule if numbers else Exact()).errors(left, right, _plain_given(given) if numbers else NOTHING_GIVEN)
    figure = float(errors.max(initial=0.0))
    if figure <= rule.tolerance:
        return Verdict(figure, True)
    return Verdict(figure, False, _worst(rule, errors, left, right))


def _judge_metric(rule: Metric, found: Array, expected: Array, given: Given) -> Verdict:
    try:
        figure = float(rule.errors(found, expected, given))
    except Misuse:
        raise
    except Exception as error:  # A candidate's output may be anything, and a user's function need not expect that.
        return Verdict(math.inf, False, f"{rule}: {type(error).__name__}: {error}")
    accepted = figure <= rule.tolerance
    return Verdict(figure, accepted, "" if accepted else f"error {figure:g} under '{rule}'")


def _worst(rule: Rule, errors: NDArray[np.float64], found: Array, expected: Array) -> str:
    flat = int(np.argmax(errors))
    at = np.unravel_index(flat, errors.shape)
    place = ", ".join(str(int(i)) for i in at)
    wrong = int(np.count_nonzero(errors > rule.tolerance))
    return (
        f"error {float(errors.max()):g} under '{rule}': {wrong} of {errors.size} elements lie outside, the worst is "
        f"[{place}] = {found[at]}, expected {expected[at]}"
    )


def distance(found: Array, expected: Array) -> NDArray[np.float64]:
    """``|found - expected|`` element by element, without overflow; infinite where only one is NaN or infinite."""
    if expected.dtype.kind != "f":
        return _unsigned_difference(found, expected).astype(np.float64)
    with np.errstate(all="ignore"):
        left, right = found.astype(np.float64), expected.astype(np.float64)
        far = np.abs(left - right)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    return np.where(same, 0.0, np.where(np.isnan(far), np.inf, far))


def _unsigned_difference(left: Array, right: Array) -> Array:
    """The difference of integers as unsigned ones of their width, which always hold it."""
    unsigned = np.dtype(f"u{left.dtype.itemsize}")
    high, low = np.maximum(left, right).view(unsigned), np.minimum(left, right).view(unsigned)
    return cast(Array, high - low)


def _ordered(values: Array) -> Array:
    """The bits of floating-point numbers as integers of the same order; both zeros are 0."""
    signed = np.dtype(f"i{values.dtype.itemsize}")
    bits = np.ascontiguousarray(values).view(signed)
    return np.where(bits < 0, np.iinfo(signed).min - bits, bits)


def _ratio(far: NDArray[np.float64], scale: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """``far / scale``; what does not differ is exact against any scale, what does is infinitely far off against none."""
    with np.errstate(all="ignore"):
        divided = np.asarray(far / scale)
    divided = np.where(np.isfinite(far) & ~np.isnan(divided), divided, np.inf)
    return np.where(far == 0, 0.0, divided)


def _magnitude(values: Array) -> NDArray[np.float64]:
    return cast(NDArray[np.float64], np.abs(values.astype(np.float64)))


def _finite(values: Array) -> NDArray[np.float64]:
    wide = values.astype(np.float64).ravel()
    return wide[np.isfinite(wide)]


def _spread(expected: Array) -> float:
    values = np.sort(_finite(expected))
    if not values.size:
        return 0.0
    last = values.size - 1
    with np.errstate(over="ignore"):
        inner = float(values[last - last // 20] - values[last // 20])
        return inner or float(values[-1] - values[0])


def _change(expected: Array, given: Given) -> float:
    """The change an output's error is judged against; 0 when it should not change at all."""
    if given.before is not None and not distance(given.before, expected).any():
        return 0.0
    size, spread = float(np.max(np.abs(_finite(expected)), initial=0.0)), _spread(expected)
    rounding = 1000 * float(np.finfo(expected.dtype).eps) * size if expected.dtype.kind == "f" else 0.0
    scales = [size, spread if spread > rounding else 0.0]
    for earlier in (given.before, *given.inputs):
        if earlier is not None and earlier.shape == expected.shape and earlier.dtype == expected.dtype:
            far = distance(earlier, expected)
            scales.append(float(np.max(far[np.isfinite(far)], initial=0.0)))
    return min((scale for scale in scales if scale > 0), default=0.0)


def _plain(values: Array) -> Array:
    """Integers or reals: complex numbers as pairs, truth values as 0 and 1, anything else as its bytes."""
    kind, wide = values.dtype.kind, values.dtype.itemsize > (16 if values.dtype.kind == "c" else 8)
    if kind == "O":
        raise Misuse("an output holds Python objects, which no rule compares", hint="give arrays of numbers")
    if kind in "iufc":
        narrow = np.dtype("c16" if kind == "c" else "f8") if wide else values.dtype.newbyteorder("=")
        values = np.ascontiguousarray(values.astype(narrow, copy=False))
        return values.view(np.dtype(f"f{narrow.itemsize // 2}")).reshape(*values.shape, 2) if kind == "c" else values
    values = np.ascontiguousarray(values)
    return values.view(np.uint8).reshape(values.shape if kind == "b" else (*values.shape, values.dtype.itemsize))


def _plain_given(given: Given) -> Given:
    before = None if given.before is None else _plain(given.before)
    return Given(before, tuple(_plain(values) for values in given.inputs))


def _same_bytes(left: Array, right: Array) -> bool:
    return np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes()
