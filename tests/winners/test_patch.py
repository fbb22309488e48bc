"""``kw patch``: what of a variant can be said in CUDA C, said there, compiled and compared."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.edits import Original
from kernelwright.edits.barriers import is_barrier
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.pipeline import compile as compile_program
from kernelwright.stories.source_patch import _Text

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
    text = _Text(SOURCE.split("\n"), "work.cu")
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


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch command")
def test_the_command(kw: Kw, runs: Path, tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "stories" / "again.cu"
    mine = tmp_path / "again.cu"
    mine.write_text(source.read_text())
    done = kw("patch", runs / "kw-runs" / "again-1", "--source", "again.cu", cwd=tmp_path)
    assert "again.cu, " in done.stderr and ("in the patch: " in done.stderr) == (done.returncode == 0)
    if done.returncode == 0:
        assert "compiled, again is " in done.stderr and "PTX instructions" in done.stderr
        subprocess.run(["patch", "-p1"], input=done.stdout, cwd=tmp_path, text=True, check=True)
        assert mine.read_text() != source.read_text()
    mine.write_text(source.read_text().replace("3.0f", "4.0f"))
    done = kw("patch", runs / "kw-runs" / "again-1", "--source", "again.cu", cwd=tmp_path)
    assert done.returncode == 2 and "is not the one that the run began with" in done.stderr
    done = kw("patch", "again-1", "--source", "nothing.cu")
    assert done.returncode == 2 and "cannot be read" in done.stderr
