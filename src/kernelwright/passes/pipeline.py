"""The pipeline on one page: what happens to a kernel between the front end and PTX, in the order it happens.

Each step says what the paper (002, gpucc) calls it, which LLVM pass does it today, what it does to a small example, and
how it is switched off. ``kw passes`` prints this table; ``kw compile --without slsr,msi`` and ``--threshold inline=50`` act
on it. LLVM runs more passes than these; a test holds the order here against the one that LLVM reports.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Where = Literal["middle end", "code generation"]


@dataclass(frozen=True)
class Threshold:
    """A number that steers a step. ``option`` is LLVM's own; ``usual`` says what holds when it is not given."""

    name: str
    option: str
    meaning: str
    usual: str


@dataclass(frozen=True)
class Step:
    """One step. ``llvm`` holds the names LLVM's pass gate knows, unless ``off`` tells of another way to leave it out."""

    short: str
    name: str
    paper: str
    """The paper's section, empty for a step it does not discuss."""
    llvm: tuple[str, ...]
    where: Where
    effect: str
    before: str
    after: str
    aliases: tuple[str, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    off: str = ""
    """How it is left out when not through the gate."""
    switches: tuple[str, ...] = ()
    """LLVM options that leave it out, for steps that are no pass."""
    optional: bool = True

    @property
    def gated(self) -> bool:
        """Left out by LLVM's pass gate, ``-opt-disable``."""
        return not self.off


STEPS: tuple[Step, ...] = (
    Step(
        "libdevice", "device math library", "", ("libdevice.10.bc",), "middle end",
        "links in the bodies of the math functions that are called, and no others",
        before="declare float @__nv_sinf(float)",
        after="define internal float @__nv_sinf(float %x) { ... }",
        off="it gives calls their bodies, without which there is no machine code", optional=False,
    ),
    Step(
        "internal", "whole-program visibility", "", ("internalize",), "middle end",
        "a device function is seen by its own file alone, so that nothing is left of it once it is inlined",
        before="define float @blend(float %x) { ... }",
        after="define internal float @blend(float %x) { ... }",
        aliases=("internalize",),
        off="functions keep the linkage that the front end gave them",
    ),
    Step(
        "reflect", "target questions", "", ("nvvm-reflect",), "middle end",
        "answers the math library's questions about architecture and rounding",
        before='if (__nvvm_reflect("__CUDA_FTZ")) y = fast(x); else y = exact(x);',
        after="y = exact(x);",
        off="it answers questions that code generation cannot", optional=False,
    ),
    Step(
        "msaa", "memory-space alias analysis", "3.3", ("nvptx-aa",), "middle end",
        "pointers into different memory spaces never alias",
        before="a = tile[i]; g[i] = 1; b = tile[i];",
        after="a = tile[i]; g[i] = 1; b = a;",
        aliases=("aa",),
        off="LLVM has no switch: spaces are not looked up, and are inferred only after everything that asks for aliases has run",
        switches=("-nvptx-traverse-address-aliasing-limit=0",),
    ),
    Step(
        "sroa", "scalar replacement of aggregates", "3.1", ("sroa", "mem2reg"), "middle end",
        "keeps local variables, arrays and structures in registers",
        before="store %x, %slot; %y = load %slot",
        after="%y = %x",
    ),
    Step(
        "inline", "function inlining", "3.1", ("inline",), "middle end",
        "puts a callee's body in place of the call",
        before="y = square(x);",
        after="y = x * x;",
        aliases=("inlining",),
        thresholds=(
            Threshold("inline", "-inline-threshold", "largest cost of a callee that is inlined, before LLVM multiplies it "
                      "by 11 for NVPTX", "250 at -O3, 225 at -O2"),
        ),
    ),
    Step(
        "reassociate", "local reassociation", "3.4.3", ("reassociate",), "middle end",
        "sorts the operands of each commutative expression, one expression at a time",
        before="j = (c + x0) + n;",
        after="j = (c + n) + x0;",
    ),
    Step(
        "licm", "loop-invariant code motion", "", ("licm",), "middle end",
        "computes once, before the loop, what each iteration would compute alike",
        before="while (i < n) a[i++] = b * c;",
        after="t = b * c; while (i < n) a[i++] = t;",
    ),
    Step(
        "indvars", "induction variables", "", ("indvars",), "middle end",
        "counts a loop in one counter of the width that its addresses have, up to its number of iterations",
        before="for (int i = 0; i < n; ++i) a[(long)i] = 0;",
        after="for (long i = 0; i != n; ++i) a[i] = 0;",
        aliases=("ivs",),
    ),
    Step(
        "unroll", "loop unrolling", "3.1", ("loop-unroll-full", "loop-unroll"), "middle end",
        "repeats a loop's body, wholly for a small known count, else in part",
        before="for (y = 0; y < 3; ++y) s += a[y];",
        after="s += a[0]; s += a[1]; s += a[2];",
        aliases=("unrolling",),
        thresholds=(
            Threshold("unroll", "-unroll-threshold", "largest size of a loop's body after full unrolling",
                      "300 at -O3, 150 below"),
            Threshold("unroll-partial", "-unroll-partial-threshold", "largest size after partial unrolling",
                      "a quarter of the above, as NVPTX asks"),
        ),
    ),
    Step(
        "gvn", "global value numbering", "3.4", ("gvn",), "middle end",
        "removes what dominators have already computed or loaded; runs again after each straight-line step",
        before="x = b * n; ... y = b * n;",
        after="x = b * n; ... y = x;",
    ),
    Step(
        "dse", "dead store elimination", "3.3", ("dse",), "middle end",
        "removes stores that are overwritten before anyone reads them",
        before="tile[i] = 1; tile[i] = 2;",
        after="tile[i] = 2;",
    ),
    Step(
        "copies", "copies field by field", "", ("field copies",), "middle end",
        "loads and stores the fields of a structure that is copied as it is: all loads first, neighbours joined later",
        before="memcpy(&to[i], &from[i], 16);  // to[i] = from[i], a float4",
        after="x = from[i].x; y = from[i].y; ...; to[i].x = x; to[i].y = y; ...",
        aliases=("field-copies",),
        off="such a copy stays one, which code generation makes in pieces of 8 bytes",
    ),
    Step(
        "args", "kernel arguments are global", "3.2", ("nvptx-lower-args",), "code generation",
        "a pointer that the host passes to a kernel points to global memory",
        before="ld.param.u64 %p, [k_param_0];",
        after="ld.param.u64 %q, [k_param_0]; cvta.to.global.u64 %p, %q;",
        off="it lays arguments out as PTX wants them", optional=False,
    ),
    Step(
        "msi", "memory-space inference", "3.2", ("infer-address-spaces",), "code generation",
        "follows a variable's memory space through the pointers derived from it (Figure 4, Algorithm 1)",
        before="ld.f32 %v, [%p];",
        after="ld.shared.f32 %v, [%p];",
        aliases=("ias", "infer-address-spaces"),
    ),
    Step(
        "par", "pointer-arithmetic reassociation", "3.4.1", ("separate-const-offset-from-gep",), "code generation",
        "takes constant offsets out of address expressions, where PTX adds them for nothing (Figure 5 a to b)",
        before="p1 = &a[c + 1 + b * n];",
        after="p0 = &a[c + b * n]; p1 = &p0[1];",
        aliases=("separate-const-offset-from-gep",),
    ),
    Step(
        "spec", "speculative execution", "3.5", ("Speculatively execute instructions", "speculative-execution"),
        "code generation",
        "hoists instructions without side effects out of conditional blocks, so that later steps see them together (Figure 7)",
        before="if (b) u = a[i]; if (c) v = a[i + j];",
        after="p = &a[i]; if (b) u = *p; q = &a[i + j]; if (c) v = *q;",
        aliases=("speculation",),
        thresholds=(
            Threshold("spec", "-spec-exec-max-speculation-cost", "largest cost of what is hoisted from one block", "7"),
            Threshold("spec-kept", "-spec-exec-max-not-hoisted", "hoist nothing when more instructions would stay behind", "5"),
        ),
    ),
    Step(
        "slsr", "straight-line strength reduction", "3.4.2", ("slsr",), "code generation",
        "computes an expression from a similar one that dominates it (Figure 5 b to c, Table 3)",
        before="x0 = b * n; x1 = (b + 1) * n;",
        after="x0 = b * n; x1 = x0 + n;",
        aliases=("strength-reduction",),
    ),
    Step(
        "gra", "global reassociation", "3.4.3", ("nary-reassociate",), "code generation",
        "reorders operands so that a sum already computed by a dominator appears (Figure 5 c to d, Algorithm 2)",
        before="j0 = c + x0; j1 = c + (x0 + n);",
        after="j0 = c + x0; j1 = j0 + n;",
        aliases=("nary", "nary-reassociate"),
    ),
    Step(
        "lsr", "loop strength reduction", "3.4.2", ("loop-reduce",), "code generation",
        "turns what a loop computes from its counter into pointers that advance; the paper's counterpart across iterations",
        before="for (i = 0; i < n; ++i) s += a[i * m];",
        after="p = a; for (i = 0; i < n; ++i, p += m) s += *p;",
        aliases=("loop-strength-reduction",),
        off="LLVM's option -disable-lsr", switches=("-disable-lsr",),
    ),
    Step(
        "lsv", "load and store vectorisation", "", ("load-store-vectorizer",), "code generation",
        "joins neighbouring accesses into one of 64 or 128 bits",
        before="x = p[0]; y = p[1];  // p aligned to 8 bytes",
        after="ld.global.v2.f32 {x, y}, [p];",
        aliases=("vectorize", "load-store-vectorizer"),
    ),
    Step(
        "bypass", "bypassing 64-bit division", "3.6", ("codegenprepare",), "code generation",
        "divides in 32 bits when both operands turn out to fit",
        before="q = a / b;  // 64 bits",
        after="q = (a | b) >> 32 ? a / b : (unsigned)a / (unsigned)b;",
        aliases=("div", "bypass-slow-division"),
        off="LLVM has no switch: functions get the attribute optsize for code generation, which keeps the plain division",
    ),
)  # fmt: skip

THRESHOLDS: dict[str, Threshold] = {t.name: t for s in STEPS for t in s.thresholds}


def step(name: str) -> Step:
    """The step called ``name``: its short name, full name or an alias. Raises ``Misuse`` with the nearest names."""
    for each in STEPS:
        if name in (each.short, each.name, *each.aliases):
            return each
    names = [n for s in STEPS for n in (s.short, s.name, *s.aliases)]
    raise Misuse(
        f"no step of the pipeline is called {name!r}",
        hint=_nearest(name, names, [s.short for s in STEPS if s.optional]),
    )


def threshold(name: str) -> Threshold:
    """The threshold called ``name``. Raises ``Misuse`` with the nearest names."""
    if name not in THRESHOLDS:
        raise Misuse(f"no threshold is called {name!r}", hint=_nearest(name, THRESHOLDS, THRESHOLDS))
    return THRESHOLDS[name]


def _nearest(name: str, names: Iterable[str], otherwise: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(otherwise)}"
