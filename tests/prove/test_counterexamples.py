"""What refutes an obligation becomes an input: it shows what no other changed input does, or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import ArgumentIs, Guard
from kernelwright.ir import Module
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove import Prover
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample, refuting_changes
from kernelwright.prove.coverage.accepted_changes import AcceptedChanges
from kernelwright.prove.domain import training_facts
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.proof import proof_from_json
from kernelwright.stories.proving import counterexamples_in

START = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; int k = keys[i];"
SOURCE = f"""
#define KERNEL(name, body) extern "C" __global__ void name(const int *keys, int *out, int n, int m) {{ {START} body }}
KERNEL(remainders, if (n % 97 == 41 && m % 89 == 33) k = ~k; out[i] = k + m;)
KERNEL(content, if (k + 2 * n - m == 90001 && k - m == -70013) k = ~k; out[i] = k + m;)
KERNEL(spurious, __shared__ int s[64]; s[threadIdx.x] = k & 7; __syncwarp(); __syncthreads();
       int other = s[threadIdx.x ^ 1]; if (other > 7) k = ~k; out[i] = k + m;)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Modules:
    path = tmp_path_factory.mktemp("counterexamples") / "conditions.cu"
    path.write_text(SOURCE)
    return by_kernel(compile_program(path).module)


def case(number: int) -> Case:
    keys = np.random.default_rng(number).integers(0, 1000, 128).astype(np.int32)
    return Case((2,), (64,), {"keys": keys, "out": np.zeros(128, np.int32), "n": 120, "m": 7})


def prover_of(kernel: str, modules: Modules) -> Prover:
    workload = Workload(Path("conditions.cu"), kernel, (case(1), case(2)), 0.0, generator=lambda n: case(n + 100))
    return Prover(workload, {kernel: modules[kernel]})


def without_check(kernel: str, modules: Modules, which: int = 0) -> tuple[Module, Original, ConstantCondition]:
    """The kernel whose comparison in front of the choice never holds."""
    original = Original(modules[kernel], kernel)
    choices = [id for id, node in original.nodes.items() if node.instruction.opcode == "select"]
    edit = ConstantCondition(choices[0], which, False)
    return apply(original, [edit]).module, original, edit


def refuted_by(prover: Prover, original: Original, edit: ConstantCondition) -> list[Counterexample]:
    obligations = owed(original, [edit], training_facts(prover.baseline)[original.kernel])
    assert any(one.method == "refuted" for one in obligations)
    return list(counterexamples_in(obligations))


def test_an_input_that_no_other_change_comes_upon(modules: Modules) -> None:
    prover = prover_of("remainders", modules)
    variant, original, edit = without_check("remainders", modules)
    proof = prover.prove({"remainders": variant})
    assert proof.label == "clean"  # else this tests nothing
    counterexamples = refuted_by(prover, original, edit)
    wrong, tried = prover.refuted({"remainders": variant}, counterexamples)
    assert tried and wrong
    told = proof.refuted(wrong)
    assert told.label == "data-specific"
    assert (
        "refuting an obligation: n of remainders: 120 -> 41, m of remainders: 7 -> 33" in told.check("different").detail
    )
    assert proof_from_json(told.as_json()) == told
    # Another variant of the run is tried on it, too.
    other, _, _ = without_check("remainders", modules, 1)
    assert prover.prove({"remainders": other}).label == "clean"
    later = prover.prove({"remainders": other}, counterexamples=counterexamples)
    assert later.label == "data-specific" and "refuting an obligation" in later.check("different").detail
    # It says nothing of launches that the guards leave out, or of the original itself.
    guard: Guard = ArgumentIs(3, "i32 7", (7).to_bytes(4, "little"))
    assert prover.refuted({"remainders": variant}, counterexamples, guards={"remainders": [guard]})[0] == []
    assert prover.refuted({"remainders": modules["remainders"]}, counterexamples)[0] == []
    few = Relation((Product(1, (Quantity("argument", 2),)),), ">=", (Product(100),))
    assert prover.refuted({"remainders": variant}, counterexamples, guards={"remainders": [few]}) == ([], 0)


def test_what_memory_holds_is_part_of_it(modules: Modules) -> None:
    prover = prover_of("content", modules)
    variant, original, edit = without_check("content", modules)
    wrong, _ = prover.refuted({"content": variant}, refuted_by(prover, original, edit))
    assert wrong and "'keys' all of them -70006" in wrong[0].case


def test_what_cannot_happen_takes_nothing_away(modules: Modules) -> None:
    """Of what another thread wrote the solver knows nothing: its values do not come about, and the label stays."""
    prover = prover_of("spurious", modules)
    original = Original(modules["spurious"], "spurious")
    conditions = [
        (id, index) for id, node in original.nodes.items() for index, operand in enumerate(node.instruction.operands)
        if node.instruction.opcode in ("select", "sext") and operand.type.text == "i1"
    ]  # fmt: skip
    edit = ConstantCondition(*conditions[0], False)
    variant = apply(original, [edit]).module
    counterexamples = refuted_by(prover, original, edit)
    proof = prover.prove({"spurious": variant}, counterexamples=counterexamples)
    assert proof.label == "clean"
    assert prover.refuted({"spurious": variant}, counterexamples)[0] == []


@pytest.mark.parametrize(
    "values",
    [
        (("argument 9", 3),), (("argument 2", 1 << 40),), (("block.x", 2048),), (("what argument 7 points to", 3),),
        (("grid.x", 1 << 30),), (("variable nothing", 1),), (("bytes behind argument 0", 4),), (),
    ],
)  # fmt: skip
def test_values_that_no_case_can_have_change_nothing(modules: Modules, values: tuple[tuple[str, int], ...]) -> None:
    prover = prover_of("content", modules)
    survey = AcceptedChanges(prover.baseline)._survey(prover.baseline.training[0])
    function = modules["content"].functions["content"]
    assert list(refuting_changes(Counterexample("content", values), function, survey, 0)) == []
    assert list(refuting_changes(Counterexample("other", (("argument 2", 3),)), function, survey, 0)) == []
    assert prover.refuted({"content": modules["content"]}, [Counterexample("gone", values)]) == ([], 0)


def test_a_guard_on_an_argument_that_is_gone_leaves_nothing_known(modules: Modules) -> None:
    guard: Guard = Relation((Product(1, (Quantity("argument", 9),)),), ">=", (Product(0),))
    variant, _, _ = without_check("content", modules)
    proof = prover_of("content", modules).prove({"content": variant}, guards={"content": [guard]})
    assert proof.label == "wrong" and "none of the training cases lies inside" in proof.check("training").detail
    assert "2 cases lie outside what the variant is meant for (argument 9 >= 0)" in proof.notes


def test_only_what_was_refuted_is_tried() -> None:
    held = Obligation("a", "solver", "b", kernel="k")
    refuted = Obligation("a", "refuted", "b", kernel="k", counterexample=(("argument 2", 3),))
    assert list(counterexamples_in([held, refuted])) == [Counterexample("k", (("argument 2", 3),))]
