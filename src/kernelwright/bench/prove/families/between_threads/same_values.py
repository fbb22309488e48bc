"""The original races: threads write equal values to one word, as breadth-first search does. A variant may do that too, and no more."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.prove.labels import Label

PARAMETERS = "const int *to, const float *in, int *mark, int *level, float *out, int n"


def _data(random: Random) -> Case:
    arguments = {
        "to": ints(random, 128, 0, 8), "in": floats(random, 128), "mark": zeros(8, "int32"), "level": zeros(8, "int32"),
        "out": zeros(128), "n": 128,
    }  # fmt: skip
    return Case((2,), (64,), arguments)


def _member(name: str, body: str, original: str, variant: str, label: Label) -> Member:
    return Member(name, label, kernel_source(name, PARAMETERS, body, original, variant), _data)


SAME: Label = "as safe as the original"
HEAD = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;"
MARKS = f"{HEAD} mark[to[i]] = 1; @"
LEVELS = f"{HEAD} int id = to[i]; level[id] = @; out[i] = in[i];"
SAYS = f"{HEAD} float v = in[i]; if (v > 0.0f) *mark = 1; @"
UNTIL = f"{HEAD} float s = 0.0f; for (int k = 0; k < 4; k++) {{ s += in[(i + k) % n]; mark[to[i]] = 1; }} @"
DOUBLE = "out[i] = in[i] * 2.0f;"

FAMILY = Family(
    "equal values",
    "a race of equal values is taken for one of any values, or for none",
    (
        _member("level_of_thread", LEVELS, "n", "(i < 64 ? n : n + 1)", "schedule-dependent"),
        _member("level_of_lane", LEVELS, "n", "(n + (i & 1))", "schedule-dependent"),
        _member("level_of_value", LEVELS, "n", "(in[i] > 1.0f ? n : -n)", "schedule-dependent"),
        _member("level_counted", LEVELS, "7", "(level[id] + 1)", "schedule-dependent"),
        _member("level_of_block", LEVELS, "n", "(n + (int)blockIdx.x)", "schedule-dependent"),
        _member("marks_cleared", MARKS, DOUBLE, f"((volatile int *)mark)[to[i]] = 0; mark[to[i]] = 1; {DOUBLE}", "lock-step only"),
        _member("marks_read", MARKS, DOUBLE, "out[i] = mark[(to[i] + 1) % 8] == 2 ? 0.0f : in[i] * 2.0f;", "lock-step only"),
        _member("other_word_too", MARKS, DOUBLE, f"level[0] = 0; {DOUBLE}", "benign"),
        _member("other_array_too", SAYS, DOUBLE, f"mark[1] = 0; {DOUBLE}", "benign"),
        _member("marked_elsewhere_too", SAYS, DOUBLE, f"level[to[i]] = 0; {DOUBLE}", "benign"),
        _member("through_a_word", SAYS, DOUBLE,
                "mark[7] = i; out[i] = mark[7] == i ? in[i] * 2.0f : in[i] + in[i]; mark[7] = 0;", "benign"),
        # Sound: the race of the original, and none besides.
        _member("doubled_by_adding", MARKS, DOUBLE, "out[i] = in[i] + in[i];", SAME),
        _member("doubled_the_other_way", MARKS, DOUBLE, "out[i] = 2.0f * in[i];", SAME),
        _member("level_by_other_means", LEVELS, "n", "(n + 1 - 1)", SAME),
        _member("level_reread", LEVELS, "n", "(n | (int)(in[i] * 0.0f))", SAME),
        _member("says_and_doubles", SAYS, DOUBLE, "out[i] = v + v;", SAME),
        _member("says_again", SAYS, DOUBLE, "out[i] = in[i] * 2.0f * 1.0f;", SAME),
        _member("sum_after", UNTIL, "out[i] = s;", "out[i] = s * 1.0f;", SAME),
        _member("sum_of_nothing_more", UNTIL, "out[i] = s;", "out[i] = 1.0f * s;", SAME),
        _member("marks_twice_checked", MARKS, DOUBLE, "if (i < n) out[i] = in[i] * 2.0f;", SAME),
        _member("level_at_least", LEVELS, "n", "max(n, n - 1)", SAME),
    ),
)  # fmt: skip
