"""``kw patch``: what of a variant can be said in CUDA C, said there, compiled and compared."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernelwright.edits import Original
from kernelwright.edits.barriers import is_barrier
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evolution.new_run import create, opened
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.stories.source_patch import SourcePatch, source_patch
from kernelwright.stories.source_text import SourceText

from .conftest import Kw

SOURCE = """\
// in *in, n
template <int N> __global__ void other(int *p) { p[N] = 0; }
__global__ void
work(const float *in, float *out, int n, float scale)
{
    __shared__ float kept[64];
    kept[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (n > 3)
        __syncthreads();
    float sum = 0;
    for (int i = 0; i < n; i++) sum += kept[(threadIdx.x + i) % 64] * scale * in[i];
    out[threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    path = tmp_path_factory.mktemp("patch") / "work.cu"
    path.write_text(SOURCE)
    (unit,) = compile_program([path]).units
    return Original(unit.module, "_Z4workPKfPfif")


def said(original: Original, *edits: Edit) -> tuple[list[bool], str]:
    text = SourceText(SOURCE.split("\n"), "work.cu")
    return [text.apply(original, edit) for edit in edits], text.joined


def barriers(original: Original) -> list[Edit]:
    found = [id for id, node in original.nodes.items() if is_barrier(node.instruction)]
    return [Delete(id) for id in found]


def test_barriers_go_and_an_if_keeps_its_statement(original: Original) -> None:
    done, text = said(original, *barriers(original))
    assert done == [True, True]
    assert "    kept[threadIdx.x] = in[threadIdx.x];\n    if (n > 3)\n        ;\n    float" in text


def test_parameters_get_promises_and_values(original: Original) -> None:
    done, text = said(original, NoAlias(1), FixArgument(2, "i32 16"), FixArgument(3, "float 5.000000e-01"))
    assert done == [True, True, True]
    assert "work(const float *in, float *__restrict__ out, int n, float scale)\n{ scale = 0.5; n = 16;\n" in text


def test_a_loop_is_unrolled_where_it_stands(original: Original) -> None:
    latch = next(iter(original.latches))
    done, text = said(original, Unroll(latch, 4))
    assert done == [True] and '    _Pragma("unroll 4") for (int i = 0;' in text


def test_what_has_no_words_in_the_source_is_left_out(original: Original) -> None:
    load = next(id for id, node in original.nodes.items() if node.instruction.opcode == "load")
    done, text = said(original, FixBlock((64, 1, 1)), Delete(load, "float 0.0"), Unroll(load, 2))
    assert done == [False, False, False] and text == SOURCE


def test_extents_of_the_launch_become_numbers_in_the_kernel_alone() -> None:
    source = "__device__ int f() { return blockDim.x; }\n__global__ void k(int *p) { if (p) { p[blockDim.x] = gridDim.y; } }\nint blockDim;"
    original = SimpleNamespace(kernel="_Z1kPi")
    text = SourceText(source.split("\n"), "k.cu")
    assert text.apply(original, FixBlock((64, 2, 1))) and text.apply(original, FixGrid((7, 5, 1)))  # type: ignore[arg-type]
    assert text.joined == source.replace("p[blockDim.x] = gridDim.y", "p[64] = 5")


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("if (n > 3) x = f(n);", ["if (true /* n > 3 */) x = f(n);", "if (false /* n > 3 */) x = f(n);"]),
        ("  } else if (f(n)) {", ["  } else if (((void)(f(n)), true)) {", "  } else if (((void)(f(n)), false)) {"]),
        ("if (a && p[i] == (b || c))", [
            "if (true /* a && p[i] == (b || c) */)", "if (false /* a && p[i] == (b || c) */)",
            "if (true /* a */ && p[i] == (b || c))", "if (false /* a */ && p[i] == (b || c))",
            "if (a && true /* p[i] == (b || c) */)", "if (a && false /* p[i] == (b || c) */)",
        ]),
        ("if (i++ < 3)", ["if (((void)(i++ < 3), true))", "if (((void)(i++ < 3), false))"]),
        ("if (a &&", []),
        ("x = a ? b : c;", []),
    ],
)  # fmt: skip
def test_the_ways_to_say_a_constant_condition(line: str, ways: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = SourceText(["first", line], "k.cu")
    monkeypatch.setattr(SourceText, "_line_of", lambda *_: 1)
    found = list(text.conditions(SimpleNamespace(), ConstantCondition(1, 0, True)))  # type: ignore[arg-type]
    assert found == [(1, way) for way in ways] and text.joined == f"first\n{line}"


CHOOSING = """\
__global__ void choose(const float *in, float *out, int n, int mode)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (mode > 3)
        x = sqrtf(x) * 2.0f + in[0];
    if (i < n)
        out[i] = x;
}
"""
WORKLOAD = """
from pathlib import Path
import numpy as np
from kernelwright.evaluate import Case, Workload

arguments = {"in": np.linspace(1, 2, 64, dtype=np.float32), "out": np.zeros(64, np.float32), "n": np.int32(60), "mode": np.int32(1)}
workload = Workload(Path(__file__).with_name("choose.cu"), "choose", cases=(Case(grid=(2,), block=(32,), arguments=arguments),))
"""


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., SourcePatch]:
    """``patched(line, outcome)``: the patch of a variant whose only edit makes the condition of that line's branch constant."""
    folder = tmp_path_factory.mktemp("choose")
    (folder / "choose.cu").write_text(CHOOSING)
    (folder / "choose.py").write_text(WORKLOAD)
    (folder / "run").mkdir()

    def patch(line: int, outcome: bool) -> SourcePatch:
        subject, settings = opened(folder / "choose.py"), RunSettings.on("h200", accept="any")
        with create(folder / "run", subject, settings) as run:
            (folder / "run" / "journal.db").unlink()
            original = Original(run.workload().modules()["_Z6choosePKfPfii"], "_Z6choosePKfPfii")
            users = [
                id
                for id, node in original.nodes.items()
                if "i1" in node.operand_types and (at := original.location(id)) is not None and at.line == line
            ]
            gene = Gene(original.kernel, ConstantCondition(users[0], 0, outcome))
            variant = SimpleNamespace(name="v2", candidate=(gene,), speedup=1.5)
            run.variant = lambda name: variant  # type: ignore[assignment,return-value]
            return source_patch(run, "v2", CompileOptions())

    return patch


def test_a_constant_condition_is_said_the_right_way_round(patched: Callable[..., SourcePatch]) -> None:
    found = patched(5, outcome=False)
    assert "+    if (false /* mode > 3 */)" in found.diff and not found.unsaid
    assert isinstance(found.outcome, Ok) and found.outcome.error == 0
    assert found.kernels[0].instructions <= found.kernels[0].original_instructions


def test_a_patch_that_is_wrong_on_the_data_is_called_so(patched: Callable[..., SourcePatch]) -> None:
    found = patched(7, outcome=True)
    assert "+    if (true /* i < n */)" in found.diff
    assert found.kernels[0].is_same, "the variant's very code, and wrong as the variant is"
    assert isinstance(found.outcome, Rejected) and found.outcome.stage == "compare"


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch command")
def test_the_command(kw: Kw, runs: Path, tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "stories" / "again.cu"
    mine = tmp_path / "again.cu"
    mine.write_text(source.read_text())
    done = kw("patch", runs / "kw-runs" / "again-1", "--source", "again.cu", cwd=tmp_path)
    assert "again.cu, " in done.stderr and ("in the patch: " in done.stderr) == (done.returncode == 0)
    if done.returncode == 0:
        assert "compiled, again is " in done.stderr and "PTX instructions" in done.stderr
        assert "run on the run's data, its outputs are equal to the original's: " in done.stderr
        subprocess.run(["patch", "-p1"], input=done.stdout, cwd=tmp_path, text=True, check=True)
        assert mine.read_text() != source.read_text()
    mine.write_text(source.read_text().replace("3.0f", "4.0f"))
    done = kw("patch", runs / "kw-runs" / "again-1", "--source", "again.cu", cwd=tmp_path)
    assert done.returncode == 2 and "is not the one that the run began with" in done.stderr
    done = kw("patch", "again-1", "--source", "nothing.cu")
    assert done.returncode == 2 and "cannot be read" in done.stderr
