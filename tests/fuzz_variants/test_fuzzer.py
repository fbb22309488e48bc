"""The fuzzer finds variants that are wrong, and nothing wrong with sound ones; it imports nothing of ``prove``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kernelwright.bench.prove.families.family import Family, Member
from kernelwright.bench.prove.family_table import FAMILIES
from kernelwright.evaluate.judging.case_runner import by_kernel
from kernelwright.evaluate.workload.case import Case, Output
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.pipeline import compile as compile_program
from tests.fuzz_variants import fuzz_runs, fuzzer
from tests.fuzz_variants.fuzzer import Tally, Variant, fuzz

BY_NAME = {family.name: family for family in FAMILIES}
WRONG = (
    ("launch dimension", "stride_of_grid"),
    ("block shape", "index_of_block"),
    ("device variable", "constant_factor"),
    ("struct field", "field_scale"),
    ("loop not empty", "rounds_of_argument"),
    ("check never binds", "limit_as_argument"),
)
SOUND = (
    ("launch dimension", "row_guarded"),
    ("block shape", "index_checked"),
    ("device variable", "factor_twice"),
    ("loop not empty", "rounds_at_least_one"),
    ("check never binds", "checked_before"),
)


def fuzzed(family: Family, member: Member, count: int, seed: int = 0) -> Tally:
    cases = [member.case(np.random.default_rng([seed, number])) for number in range(2)]
    variant = Variant({member.kernel: family.variants[member.kernel]}, {member.kernel: member.guards})
    return fuzz(cases, member.kernel, family.original, variant, Rules(), count=count, seed=seed, enough=1)


def member_of(family: str, kernel: str) -> tuple[Family, Member]:
    found = BY_NAME[family]
    return found, next(member for member in found.members if member.kernel == kernel)


@pytest.mark.parametrize(("family", "kernel"), WRONG)
def test_wrong_variants_are_found(family: str, kernel: str) -> None:
    found, member = member_of(family, kernel)
    assert fuzzed(found, member, 150).wrong


@pytest.mark.parametrize(("family", "kernel"), SOUND)
def test_sound_variants_agree(family: str, kernel: str) -> None:
    found, member = member_of(family, kernel)
    tally = fuzzed(found, member, 60)
    assert not tally.wrong and tally.agree >= 5, str(tally)


PAST_ITS_END = """
extern "C" __global__ void shifted(const volatile int *in, int *out, int n) {
  int i = threadIdx.x, next = in[i + 1];
  out[i] = i + 1 < n ? next : 0;
}
"""


@pytest.mark.parametrize(
    ("variant", "is_wrong"), [(PAST_ITS_END, False), (PAST_ITS_END.replace("i + 1 < n ? next : 0", "next"), True)]
)
def test_an_original_that_reads_past_its_buffers(tmp_path: Path, variant: str, is_wrong: bool) -> None:
    """So may its variants; what comes out must not depend on what is read there."""
    modules = []
    for number, text in enumerate((PAST_ITS_END, variant)):
        path = tmp_path / f"shifted{number}.cu"
        path.write_text(text)
        modules.append(by_kernel(compile_program(path).module))
    arguments = {"in": np.arange(32, dtype=np.int32), "out": np.zeros(32, np.int32), "n": np.int32(32)}
    case = Case(grid=(1,), block=(32,), arguments=arguments)
    tally = fuzz([case], "shifted", modules[0], Variant(modules[1], {}), Rules(), count=20, seed=0, enough=1)
    assert bool(tally.wrong) == is_wrong and (is_wrong or tally.agree >= 5), str(tally)


OF_FLAGS = """
extern "C" __global__ void chosen(const bool *flags, const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = flags[i] ? in[i] : -in[i];
}
"""
FLAGS_IN_NUMBERS = OF_FLAGS.replace("flags[i] ? in[i] : -in[i]", "in[i] * (2 * (int)*(const char *)(flags + i) - 1)")


def test_flags_stay_flags(tmp_path: Path) -> None:
    """What another byte in a bool gives is not defined, and so nothing that a variant can be wrong about."""
    modules = []
    for number, text in enumerate((OF_FLAGS, FLAGS_IN_NUMBERS)):
        path = tmp_path / f"chosen{number}.cu"
        path.write_text(text)
        modules.append(by_kernel(compile_program(path).module))
    flags, numbers = np.arange(32) % 3 == 0, np.arange(32, dtype=np.int32)
    case = Case(grid=(1,), block=(32,), arguments={"flags": flags, "in": numbers, "out": numbers * 0})
    tally = fuzz([case], "chosen", modules[0], Variant(modules[1], {}), Rules(), count=60, seed=0)
    assert not tally.wrong and tally.agree >= 20, str(tally)


IN_ANY_ORDER = """
extern "C" __global__ void added(const float *in, float *out) {
  if (threadIdx.x % 32 == 0) atomicAdd(out, in[threadIdx.x / 32]);
}
"""


def test_an_original_that_depends_on_the_order_of_its_threads_proves_nothing_wrong(tmp_path: Path) -> None:
    """Its sum is another one in some orders: also in those of the variant, which is the original."""
    path = tmp_path / "added.cu"
    path.write_text(IN_ANY_ORDER)
    modules = by_kernel(compile_program(path).module)
    arguments = {"in": np.array([1e8, 3.0, -1e8, 5.0], np.float32), "out": np.zeros(1, np.float32)}
    case = Case(grid=(1,), block=(128,), arguments=arguments)
    tally = fuzz([case], "added", modules, Variant(modules, {}), Rules(), count=40, seed=0)
    assert not tally.wrong and tally.unused["on which the original depends on the order of its threads"], str(tally)


@pytest.mark.parametrize(("found", "is_equal"), [(0x7FF8000000000001, True), (0x7FE8000000000001, False)])
def test_bits_of_nans_are_no_difference(found: int, is_equal: bool) -> None:
    one, other = (
        Output({"out": np.array([4, bits], "<u8").view(np.uint8)}, {}, {}) for bits in (found, 0xFFF8000000000002)
    )
    assert np.array_equal(fuzzer._with_nans_of(one, other).arrays["out"], other.arrays["out"]) is is_equal


@pytest.mark.parametrize("module", [fuzzer, fuzz_runs], ids=["fuzzer", "fuzz_runs"])
def test_it_knows_nothing_of_the_prover(module: ModuleType) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text())
    imported = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    assert imported and not any("prove" in name for name in imported)


def _sound(families: Sequence[Family]) -> list[tuple[str, str]]:
    return [(family.name, member.kernel) for family in families for member in family.sound]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "kernel"), _sound(FAMILIES))
def test_a_thousand_cases_of_each_sound_variant(family: str, kernel: str) -> None:
    found, member = member_of(family, kernel)
    tally = fuzzed(found, member, 1000)
    assert not tally.wrong, str(tally)
