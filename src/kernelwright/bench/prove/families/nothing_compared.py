"""Nothing that the kernel computes is compared: its output is ignored, is written nowhere, or is what was there before."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case

PARAMETERS = "const float *in, float *out, float *__restrict__ scratch, int n"
START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "
IGNORED = "out: ignore; scratch: ignore; *: exact"
SCRATCH = "scratch: ignore; *: exact"


def _of(count: int) -> Callable[[Random], Case]:
    def case(random: Random) -> Case:
        given = {"in": floats(random, 128), "out": zeros(128), "scratch": zeros(128), "n": count}
        return Case((2,), (64,), given)

    return case


def _blind(
    name: str, statement: str, original: str, variant: str, *, count: int = 128, tolerance: str = IGNORED
) -> Member:
    """Whatever the variant does, no comparison can show it."""
    before = f"__device__ float {name}_kept[128];"
    body = START + statement.replace("$", f"{name}_kept")
    return Member(
        name, "wrong", kernel_source(name, PARAMETERS, body, original, variant, before), _of(count), tolerance=tolerance
    )


def _seen(name: str, statement: str, original: str, variant: str) -> Member:
    """The scratch memory is ignored, the output is compared."""
    return Member(
        name,
        "clean",
        kernel_source(name, PARAMETERS, START + statement, original, variant),
        _of(128),
        tolerance=SCRATCH,
    )


OUT = "out[i] = @;"
KEPT = "$[i] = @;"
BOTH = "scratch[i] = @; out[i] = in[i] * 2.0f;"

FAMILY = Family(
    "nothing compared",
    "what it computes is right, though no comparison could show otherwise",
    (
        _blind("ignored_product", OUT, "in[i] * 2.0f", "in[i] * 3.0f"),
        _blind("ignored_sign", OUT, "in[i]", "-in[i]"),
        _blind("ignored_zero", OUT, "in[i] + 1.0f", "0.0f"),
        _blind("ignored_branch", "if (@) out[i] = in[i];", "in[i] > 1.0f", "in[i] < 1.0f"),
        _blind("scratch_alone", "scratch[i] = @;", "in[i]", "5.0f", tolerance=SCRATCH),
        _blind("kept_product", KEPT, "in[i] * 2.0f", "in[i] * 3.0f", tolerance=SCRATCH),
        _blind("kept_sum", KEPT, "in[i] + in[0]", "in[i]", tolerance=SCRATCH),
        _blind("no_thread", OUT, "in[i]", "-in[i]", count=0, tolerance=SCRATCH),
        _blind("no_thread_again", OUT, "in[i] * 2.0f", "7.0f", count=0, tolerance=SCRATCH),
        _blind("was_there_before", "out[i] = in[i] > 5.0f ? @ : 0.0f;", "in[i]", "9.0f", tolerance=SCRATCH),
        # Sound: what is ignored is not all there is.
        *(
            _seen(f"scratch_{name}", BOTH, original, variant)
            for name, original, variant in (
                ("product", "in[i] * 4.0f", "in[i] * 2.0f * 2.0f"), ("zero", "in[i]", "0.0f"), ("sign", "in[i]", "-in[i]"),
                ("index", "(float)i", "1.0f"), ("sum", "in[i] + in[0]", "in[i]"),
            )
        ),
        *(
            _seen(f"output_{name}", OUT, original, variant)
            for name, original, variant in (
                ("twice", "in[i] + in[i]", "2.0f * in[i]"), ("negated", "-(-in[i])", "in[i]"),
                ("masked", "in[i] + (i & 0)", "in[i] + 0.0f * (i & 0)"), ("either", "(i & 1 || !(i & 1)) ? in[i] : 3.0f", "in[i]"),
                ("limit", "fminf(fminf(in[i], 1.0f), 1.0f)", "fminf(in[i], 1.0f)"),
            )
        ),
    ),
)  # fmt: skip
