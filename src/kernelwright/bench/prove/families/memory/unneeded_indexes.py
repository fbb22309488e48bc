"""A load is made before the branch that decides whether it is needed; where it is not, its index may lead anywhere.

    if (gain[i] > 0) x = row[at[i]];   →   y = row[at[i]]; if (gain[i] > 0) x = y;

In training every index leads into its table, also those that nothing needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

COUNT, TABLE, LIST = 120, 96, 8
PARAMETERS = "float *out, const float *table, const int *at, const short *near, const float *gain, const int *length, int limit, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float x = 0; "
END = " out[i] = x;"
ONE = ("if (@) x = table[at[i]];", "float y = table[at[i]]; if (@) x = y;")
"""As it is, and before its branch."""
LISTS = (  # volatile, or the compiler would put it back
    "for (int k = 0; k < length[i]; k++) if (@) x += table[at[8 * i + k]];",
    "for (int k = 0; k < length[i]; k++) { float y = *(const volatile float *)(table + at[8 * i + k]); if (@) x += y; }",
)


def _indexes(random: Random, count: int = COUNT * LIST, low: int = 0) -> Any:
    return random.integers(low, TABLE, count).astype(np.int32)


def _line(random: Random) -> Case:
    arguments = {
        "out": zeros(128), "table": floats(random, TABLE), "at": _indexes(random), "near": _indexes(random).astype(np.int16),
        "gain": floats(random, COUNT * LIST), "length": random.integers(2, LIST + 1, COUNT).astype(np.int32), "limit": 5, "n": COUNT,
    }  # fmt: skip
    return Case((2,), (64,), arguments)


def _member(name: str, original: str, variant: str, condition: str = "", label: Label = "data-specific") -> Member:
    """``@`` in both is the condition."""
    before, after = (text.replace("@", condition) for text in (original, variant))
    return Member(name, label, kernel_source(name, PARAMETERS, START + "@" + END, before, after), _line)


FAMILY = Family(
    "indexes that nothing needs",
    "an index leads into its table, also where nothing needs what is there",
    (
        _member("early_by_sign", *ONE, "gain[i] > 1.0f"),
        _member("early_by_limit", *ONE, "i % 7 < limit"),
        _member("early_by_list", *ONE, "length[i] > limit"),
        _member("early_by_table", *ONE, "table[i % 96] > 0.25f"),
        _member("early_by_both", *ONE, "gain[i] > 1.0f && length[i] > 3"),
        _member("early_in_lists", *LISTS, "gain[8 * i + k] > 1.0f"),
        _member("early_in_lists_by_limit", *LISTS, "k < limit"),
        _member("early_until", "for (int k = 0; k < 8 && x < 1; k++) x += table[at[8 * i + k]];",
                "for (int k = 0; k < 8; k++) { float y = table[at[8 * i + k]]; if (x >= 1) break; x += y; }"),
        _member("a_turn_early", "for (int k = 0; k < length[i]; k++) x += table[at[8 * i + k]];",
                "float y = table[at[8 * i]]; for (int k = 0; k < length[i]; k++) { x += y; y = table[at[8 * i + (k + 1 & 7)]]; }"),
        _member("rows_early", "if (@) x = table[(near[i] & 7) * 12 + at[i] % 12];",
                "float y = *(const volatile float *)(table + (near[i] & 7) * 12 + at[i] % 12); if (@) x = y;", "gain[i] > 1.0f"),
        _member("short_early", "if (@) x = table[near[i]];", "float y = table[near[i]]; if (@) x = y;", "gain[i] < 0.75f"),
        _member("looked_up_early", "if (@) x = table[at[near[i]]];", "float y = table[at[near[i]]]; if (@) x = y;", "gain[i] > 1.0f"),
        _member("both_chosen", "x = @ ? table[at[i]] : table[near[i]];",
                "float y = table[at[i]], z = table[near[i]]; x = @ ? y : z;", "gain[i] > 1.0f"),
        # Sound.
        _member("late_by_sign", *ONE[::-1], "gain[i] > 1.0f", "clean"),
        _member("late_in_lists", *LISTS[::-1], "k < limit", "clean"),
        _member("early_and_masked", "if (@) x = table[at[i] & 63];", "float y = table[at[i] & 63]; if (@) x = y;",
                "gain[i] > 1.0f", "clean"),
        _member("early_remainder", "if (@) x = table[(unsigned)at[i] % 96];", "float y = table[(unsigned)at[i] % 96]; if (@) x = y;",
                "length[i] > limit", "clean"),
        _member("early_and_clamped", "if (@) x = table[min(max(at[i], 0), 95)];",
                "float y = table[min(max(at[i], 0), 95)]; if (@) x = y;", "gain[i] > 1.0f", "clean"),
        _member("early_by_itself", "if (@) x = table[at[i]];", "float y = (unsigned)at[i] < 96 ? table[at[i]] : 0; if (@) x = y;",
                "gain[i] > 1.0f && (unsigned)at[i] < 96", "clean"),
        _member("early_but_needed", "if (@) x = table[at[i]]; x += table[at[i]];", "float y = table[at[i]]; if (@) x = y; x += y;",
                "gain[i] > 1.0f", "clean"),
        _member("on_both_sides", "if (@) x = table[at[i]]; else x = -table[at[i]];", "float y = table[at[i]]; x = @ ? y : -y;",
                "gain[i] > 1.0f", "clean"),
        _member("early_index_alone", "if (@) x = table[at[i]];", "int a = at[i]; if (@) x = table[a];", "gain[i] > 1.0f", "clean"),
        _member("early_by_thread", "if (@) x = table[i % 96];", "float y = table[i % 96]; if (@) x = y;", "gain[i] > 1.0f", "clean"),
    ),
)  # fmt: skip
