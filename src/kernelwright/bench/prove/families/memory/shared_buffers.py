"""Two pointers are taken never to point into the same memory."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.guards import Apart
from kernelwright.prove.labels import Label

START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "


def _line(random: Random) -> Case:
    arrays = {"a": floats(random, 128), "b": floats(random, 128), "out": zeros(128), "more": floats(random, 128)}
    return Case((2,), (64,), {**arrays, "n": 120})


def _member(
    name: str,
    body: str,
    original: str,
    variant: str,
    label: Label = "data-specific",
    *,
    restrict: bool = False,
    guard: bool = False,
) -> Member:
    """``restrict``: the source promises it; ``guard``: the launch is checked."""
    promise = " __restrict__" if restrict else ""
    parameters = f"float *{promise} a, float *{promise} b, float *{promise} out, float *{promise} more, int n"
    guards = (Apart(2), Apart(3), Apart(0)) if guard else ()
    return Member(name, label, kernel_source(name, parameters, START + body, original, variant), _line, guards)


AGAIN = "float x = a[i]; out[i] = x * 2.0f; more[i] = @ + 1.0f;"
EARLY = "float y = b[i]; out[i] = a[i] + 1.0f; more[i] = @;"
ORDER = "@"
TWO = "out[i] = a[i] + 1.0f; more[i] = a[i] * 3.0f;"
KEPT = "float x = a[i], s = 0.0f; for (int k = 0; k < 3; ++k) { out[i] = s + x; s += @; } more[i] = s;"
TURNS = "float s = out[i]; for (int k = 0; k < 4; ++k) { @ } more[i] = s;"

FAMILY = Family(
    "buffers that alias",
    "two pointers never point into the same memory",
    (
        _member("read_again", AGAIN, "a[i]", "x"),
        _member("read_before", EARLY, "b[i]", "y"),
        _member("stores_changed_places", "float x = a[i]; @", "out[i] = x; more[i] = x + 1.0f;", "more[i] = x + 1.0f; out[i] = x;"),
        _member("read_before_both", "@", TWO, "float x = a[i]; out[i] = x + 1.0f; more[i] = x * 3.0f;"),
        _member("kept_in_a_register", KEPT, "a[i]", "x"),
        _member("sum_in_a_register", TURNS, "out[i] += b[i]; s = out[i];", "s += b[i]; if (k == 3) out[i] = s;"),
        _member("stored_value", "out[i] = a[i]; more[i] = b[i]; b[i] = @;", "out[i]", "a[i]"),
        _member("stored_back", "out[i] = a[i] + 2.0f; more[i] = 0.5f; a[i] = @;", "out[i] * 2.0f", "(a[i] + 2.0f) * 2.0f"),
        _member("never_the_same", "out[i] = @;", "(a == out ? 0.0f : a[i])", "a[i]"),
        _member("overwritten_and_read", "@ out[i] = b[i];", "out[i] = 1.0f;", "out[i] = 2.0f;"),
        _member("one_is_dead", "@ more[i] = b[i]; out[i] = a[i] - 1.0f;", "out[i] = b[i] * 9.0f;", ""),
        _member("condition_read_again", "bool c = a[i] > 1.0f; out[i] = 0.0f; if (@) more[i] = b[i];", "a[i] > 1.0f", "c"),
        # Sound: the source promises it, the launch is checked, or it does not matter.
        _member("promised", AGAIN, "a[i]", "x", "clean", restrict=True),
        _member("promised_early", EARLY, "b[i]", "y", "clean", restrict=True),
        _member("checked", AGAIN, "a[i]", "x", "clean", guard=True),
        _member("checked_early", EARLY, "b[i]", "y", "clean", guard=True),
        _member("checked_dead", "@ more[i] = b[i]; out[i] = a[i] - 1.0f;", "out[i] = b[i] * 9.0f;", "", "clean", guard=True),
        _member("both_read_first", "float x = a[i], y = @; out[i] = x; more[i] = y;", "b[i]", "(b[i])", "clean"),
        _member("loads_changed_places", "@ out[i] = x - y; more[i] = y;", "float x = a[i], y = b[i];", "float y = b[i], x = a[i];",
                "clean"),
        _member("overwritten", "float y = b[i]; @ out[i] = y;", "out[i] = 1.0f;", "out[i] = 2.0f;", "clean"),
        _member("own_value", "out[i] = a[i]; more[i] = @;", "out[i] + 1.0f", "(1.0f + out[i])", "clean"),
        _member("written_once", "float x = a[i] + b[i]; out[i] = @;", "x * 2.0f", "(x + x)", "clean"),
        _member("asked", "float x = a[i]; out[i] = 2.0f; more[i] = @;", "a[i]", "(a == out ? 2.0f : x)", "clean"),
    ),
)  # fmt: skip
