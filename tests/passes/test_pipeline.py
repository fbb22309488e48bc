"""The table of steps says what LLVM really does, in the order it does it."""

from __future__ import annotations

from kernelwright.passes import isolation
from kernelwright.passes.options import PassOptions
from kernelwright.passes.pipeline import STEPS, THRESHOLDS, Step, step
from kernelwright.passes.switches import _gate_log, process_switches, skipped_passes

PAPER = {
    "function inlining": "3.1",
    "loop unrolling": "3.1",
    "memory-space inference": "3.2",
    "memory-space alias analysis": "3.3",
    "pointer-arithmetic reassociation": "3.4.1",
    "straight-line strength reduction": "3.4.2",
    "global reassociation": "3.4.3",
    "speculative execution": "3.5",
    "bypassing 64-bit division": "3.6",
}


def test_every_optimisation_of_the_paper_is_there_and_can_be_left_out() -> None:
    for name, section in PAPER.items():
        assert step(name).paper == section
        assert step(name).optional


def test_names_are_unique_and_every_step_tells_its_story() -> None:
    names = [n for s in STEPS for n in (s.short, s.name, *s.aliases)]
    assert len(set(names)) == len(names)
    for each in STEPS:
        assert each.before != each.after and each.effect and each.llvm
        assert each.gated or each.off
    assert len(THRESHOLDS) == sum(len(s.thresholds) for s in STEPS)


def test_the_order_is_the_one_llvm_reports() -> None:
    some = PassOptions.of(3, ["slsr"])
    order = list(dict.fromkeys(name for name, _ in isolation.run(_gate_log, options=some)))
    listed = [s.llvm[0] for s in STEPS if s.llvm[0] in order]
    assert [s.llvm[0] for s in STEPS if s.gated] == [name for name in listed if step_of(name).gated]
    positions = [order.index(name) for name in listed]
    assert positions == sorted(positions)


def step_of(llvm_name: str) -> Step:
    return next(s for s in STEPS if s.llvm[0] == llvm_name)


def test_each_gated_step_is_skipped_and_nothing_else() -> None:
    everything = PassOptions.of(3, [s.short for s in STEPS if s.gated])
    skipped = isolation.run(skipped_passes, options=everything)
    assert skipped == {name for s in STEPS if s.gated for name in s.llvm}


def test_options_that_need_no_process_of_their_own() -> None:
    assert process_switches(PassOptions()) == ()
    assert process_switches(PassOptions.of(1, ["bypass"])) == ()
    assert process_switches(PassOptions.of(3, ["slsr", "gra"])) == ("-opt-disable=nary-reassociate,slsr",)
    assert process_switches(PassOptions.of(3, thresholds={"inline": 5})) == ("-inline-threshold=5",)
