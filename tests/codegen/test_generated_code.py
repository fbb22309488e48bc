"""Causes of long or greedy machine code, each with a small kernel that has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.codegen.machine.assemble import find_assemblers
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.pipeline import CompileOptions, Program
from kernelwright.pipeline import compile as compile_program

needs_assembler = pytest.mark.skipif(not find_assemblers(), reason="no assembler is installed")

GUARDED_SUMS = """
#define TILE 3
#define SIDE 11
__constant__ float weights[SIDE * SIDE];
__global__ void smooth(float *out, const float *in, int width, int height) {
  __shared__ float near[8 * TILE + SIDE][32 * TILE + SIDE];
  int x = blockIdx.x * 32 * TILE + threadIdx.x, y = blockIdx.y * 8 * TILE + threadIdx.y;
  for (int i = threadIdx.y; i < 8 * TILE + SIDE; i += 8)
    for (int j = threadIdx.x; j < 32 * TILE + SIDE; j += 32) near[i][j] = in[(y + i) * width + x + j];
  __syncthreads();
  float sums[TILE][TILE] = {};
#pragma unroll
  for (int i = 0; i < SIDE; ++i)
#pragma unroll
    for (int j = 0; j < SIDE; ++j)
#pragma unroll
      for (int a = 0; a < TILE; ++a)
#pragma unroll
        for (int b = 0; b < TILE; ++b)
          sums[a][b] += near[threadIdx.y + 8 * a + i][threadIdx.x + 32 * b + j] * weights[i * SIDE + j];
#pragma unroll
  for (int a = 0; a < TILE; ++a)
#pragma unroll
    for (int b = 0; b < TILE; ++b)
      if (x + 32 * b < width && y + 8 * a < height) out[(y + 8 * a) * width + x + 32 * b] = sums[a][b];
}
"""

BFLOAT16 = """
#include <cuda_bf16.h>
__global__ void scale(__nv_bfloat16 *out, const __nv_bfloat16 *in, float by) {
  int i = threadIdx.x;
  out[i] = __hfma(in[i], in[i + 32], out[i]) * __float2bfloat16(by);
}
"""

TANH = "__global__ void squash(float *x) { x[threadIdx.x] = tanhf(x[threadIdx.x]); }"


def compiled(folder: Path, text: str, **source: object) -> Program:
    path = folder / "kernel.cu"
    path.write_text(text)
    options = CompileOptions(source=SourceOptions(**{"arch": "sm_80", **source}))  # type: ignore[arg-type]
    return compile_program(path, options=options, cache=False)


def opcodes(ptx: str) -> list[str]:
    return re.findall(r"^\t(?:@!?%p\d+ )?([a-z][\w.]+) ", ptx, re.MULTILINE)


@needs_assembler
def test_long_sums_stay_in_front_of_their_guarded_stores(tmp_path: Path) -> None:
    """Sunk behind the guards, the sums keep everything they are made of in registers: 142 of them."""
    (resources,) = [compiled(tmp_path, GUARDED_SUMS).resources("_Z6smoothPfPKfii")]
    assert resources.registers <= 48
    assert resources.stack_bytes == 0


def test_bfloat16_is_computed_by_its_own_instructions(tmp_path: Path) -> None:
    code = opcodes(compiled(tmp_path, BFLOAT16).ptx())
    assert code.count("fma.rn.bf16") == 2 and code.count("cvt.rn.bf16.f32") == 1
    assert not [each for each in code if each.endswith(".f32") and each != "cvt.rn.bf16.f32"]
    code = opcodes(compiled(tmp_path, BFLOAT16, arch="sm_90").ptx())
    assert code.count("fma.rn.bf16") == 1 and code.count("mul.bf16") == 1


def test_before_bfloat16_instructions_float_computes(tmp_path: Path) -> None:
    code = opcodes(compiled(tmp_path, BFLOAT16, arch="sm_75").ptx())
    assert "fma.rn.f32" in code and not [each for each in code if "bf16" in each]


def test_the_fast_tanh_is_one_instruction(tmp_path: Path) -> None:
    assert "tanh.approx.f32" in opcodes(compiled(tmp_path, TANH, fast_math=True).ptx())
    assert "tanh.approx.f32" not in opcodes(compiled(tmp_path, TANH).ptx())


def test_before_that_instruction_the_fast_tanh_is_the_librarys(tmp_path: Path) -> None:
    """LLVM had nothing to select for sm_70 and older."""
    code = opcodes(compiled(tmp_path, TANH, fast_math=True, arch="sm_60").ptx())
    assert code and not [each for each in code if each.startswith("tanh")]
    assert "tanh.approx.f32" in opcodes(compiled(tmp_path, TANH, fast_math=True, arch="sm_75").ptx())


def test_local_arrays_are_read_in_pairs_and_quads(tmp_path: Path) -> None:
    """Filled where the index is not known, so that the array stays in memory; then read as a whole, one by one."""
    text = """
    __global__ void pick(float *out, const int *where) {
      float values[8] = {};
      for (int i = 0; i < 100; ++i) values[where[i] & 7] += 1.0f;
      float sum = 0.0f;
    #pragma unroll
      for (int i = 0; i < 8; ++i) sum = sum * 3.0f + values[i];
      out[threadIdx.x] = sum;
    }
    """
    code = opcodes(compiled(tmp_path, text).ptx())
    assert code.count("ld.local.v4.b32") == 2
    assert code.count("st.local.v2.b64") == 2 and "st.local.b8" not in code


def test_a_short_loop_over_a_local_array_leaves_no_array(tmp_path: Path) -> None:
    """Without a pragma: known counts unroll, and the array is in registers."""
    text = """
    __global__ void mix(float *out, const float *in) {
      float values[12];
      for (int i = 0; i < 12; ++i) values[i] = in[i * 32 + threadIdx.x];
      for (int step = 0; step < 3; ++step)
        for (int i = 0; i < 12; ++i) values[i] += values[(i + 5) % 12] * 0.5f;
      for (int i = 0; i < 12; ++i) out[i * 32 + threadIdx.x] = values[i];
    }
    """
    assert not [each for each in opcodes(compiled(tmp_path, text).ptx()) if ".local" in each]
