"""A loop is taken to run at least once."""

from __future__ import annotations

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.prove.labels import Label

COUNTED = "const float *in, float *out, int n, int rounds"
ROWS = "const int *first, const float *in, float *out, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "


def _counted(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 512), "out": zeros(120), "n": 120, "rounds": 4})


def _many(kernel: str) -> object:
    def case(random: Random) -> Case:
        """Launched many times, with fewer rounds each time, and at least one."""
        data, out = floats(random, 512), zeros(120)
        steps = (
            Step((2,), (64,), {"in": data, "out": out, "n": 120, "rounds": r}, kernel=kernel) for r in (4, 3, 2, 1)
        )
        return Case(launches=tuple(steps))

    return case


def _rows(random: Random) -> Case:
    lengths = random.integers(1, 5, 100)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return Case((2,), (64,), {"first": first, "in": floats(random, 512), "out": zeros(100), "n": 100})


def _flags(random: Random) -> Case:
    return Case((2,), (64,), {"first": ints(random, 120, 1, 4), "in": floats(random, 512), "out": zeros(120), "n": 120})


def _loop(name: str, parameters: str, case: object, begin: str, end: str, step: str, check: str = "", label: Label = "data-specific",
          final: str = "out[i] = sum;") -> Member:  # fmt: skip
    """A loop that begins with a test, and one that ends with it."""
    body = (
        f"int k = {begin}, end = {end}; float sum = 0.0f; {check}\n#ifdef VARIANT\ndo {{ {step} }} while (++k < end);\n"
        f"#else\nfor (; k < end; ++k) {{ {step} }}\n#endif\n{final}"
    )
    return Member(name, label, kernel_source(name, parameters, START + body, "0", "0"), case)  # type: ignore[arg-type]


ADD = "sum += in[(i + k) & 511];"

FAMILY = Family(
    "loop not empty",
    "a loop runs at least once",
    (
        _loop("rounds_of_argument", COUNTED, _counted, "0", "rounds", ADD),
        _loop("rounds_from_one", COUNTED, _counted, "1", "rounds", ADD),
        _loop("rounds_upwards", COUNTED, _counted, "i & 3", "rounds + 3", "sum = sum * 0.5f + in[k & 511];"),
        _loop("rounds_written", COUNTED, _counted, "0", "rounds", "out[i] = in[(i * 4 + k) & 511];", final=""),
        _loop("rounds_counted", COUNTED, _counted, "0", "min(rounds, 16)", "sum += 1.0f;"),
        _loop("rounds_of_launches", COUNTED, _many("rounds_of_launches"), "0", "rounds", "out[i] += in[(i + k) & 511];", final=""),
        _loop("launches_kept", COUNTED, _many("launches_kept"), "0", "rounds", "sum = in[(i + k) & 511];", final="out[i] += sum;"),
        _loop("row_of_list", ROWS, _rows, "first[i] & 511", "first[i + 1] & 511", ADD, check="if (end > k + 16) end = k + 16;"),
        _loop("row_maximum", ROWS, _rows, "first[i] & 511", "first[i + 1] & 511", "sum = fmaxf(sum, in[k & 511]);"),
        _loop("row_length", ROWS, _flags, "0", "first[i] & 15", ADD),
        _loop("row_last", ROWS, _flags, "0", "first[i] & 15", "sum = in[(i + k) & 511];"),
        # Sound: it runs at least once whatever it is given, or its first turn changes nothing.
        _loop("rounds_of_constant", COUNTED, _counted, "0", "3", ADD, label="clean"),
        _loop("rounds_at_least_one", COUNTED, _counted, "0", "max(rounds & 15, 1)", ADD, label="clean"),
        _loop("rounds_checked", COUNTED, _counted, "0", "min(rounds, 64)", ADD, "if (end < 1) return;", "clean"),
        _loop("rounds_one_more", COUNTED, _counted, "0", "(rounds & 7) + 1", ADD, label="clean"),
        _loop("rounds_of_bit", COUNTED, _counted, "0", "(rounds & 3) | 1", ADD, label="clean"),
        _loop("row_at_least_one", ROWS, _flags, "0", "(first[i] & 7) + 1", ADD, label="clean"),
        _loop("row_checked", ROWS, _flags, "0", "first[i] & 7", ADD, "if (!end) { out[i] = 0.0f; return; }", "clean"),
        _loop("row_of_both", ROWS, _flags, "0", "first[i] & 7 ? first[i] & 7 : 1", ADD, label="clean"),
        _loop("rounds_without_effect", COUNTED, _counted, "0", "min(rounds, 64)", "if (k < end) sum += in[(i + k) & 511];", label="clean"),
        _loop("row_without_effect", ROWS, _flags, "0", "first[i] & 7", "sum += k < end ? in[(i + k) & 511] : 0.0f;", label="clean"),
    ),
)  # fmt: skip
