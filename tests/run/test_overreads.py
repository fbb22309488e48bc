"""Programs that read past their buffers and work on every GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.conftest import Here, execute, kw

ROWS = """
#include <cstdio>
__global__ void above(float *out, const float *in, int columns) {
  __shared__ float north[16];
  int t = threadIdx.x, i = blockIdx.x * columns + t;
  north[t] = in[i - columns];
  __syncthreads();
  if (blockIdx.x == 0) north[t] = in[i];
  __syncthreads();
  out[i] = in[i] - north[t]; }
__global__ void beyond(int *out) {
  out[0] = out[4] + out[5]; }
int main(int count, char **words) {
  float *in, *out, back[64];
  for (int i = 0; i < 64; i++) back[i] = i;
  cudaMalloc(&in, sizeof back), cudaMalloc(&out, sizeof back);
  cudaMemcpy(in, back, sizeof back, cudaMemcpyDefault);
  for (int i = 0; i < 3; i++) above<<<4, 16>>>(out, in, 16);
  int *few, first = 1;
  cudaMalloc(&few, 16);
  if (count > 1) beyond<<<1, 1>>>(few);
  if (count > 2) beyond<<<1, 1>>>(few + (words[2][0] == 'f' ? 1 << 20 : 0));
  if (count > 2 && words[2][0] == 'u') cudaFree(few), beyond<<<1, 1>>>(few);
  cudaMemcpy(back, out, sizeof back, cudaMemcpyDefault);
  int code = cudaDeviceSynchronize();
  if (!code && count > 1) cudaMemcpy(&first, few, 4, cudaMemcpyDefault);
  printf("%g %g %d %d\\n", back[15], back[16], first, code);
}
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.cu"
    path.write_text(ROWS)
    return path


def test_each_place_is_told_once_with_how_often_and_how_far(rows: Path, run: Here) -> None:
    ran = run("rows.cu", "--", "more")
    assert (ran.code, ran.out) == (0, "0 16 0 0\n")
    said = ran.err.splitlines()
    assert (
        len(said) == 3
        and said[0].startswith("kw: ")
        and said[0].endswith(
            "rows.cu:6: kernel above reads past a buffer: 48 reads, up to 64 bytes before the start of "
            "'device allocation 1' (256 bytes), argument in"
        )
    )
    assert said[1].endswith(
        "rows.cu:12: kernel beyond reads past a buffer: 2 reads, up to 8 bytes past the end of "
        "'device allocation 3' (16 bytes), argument out"
    )
    assert "--strict" in said[2] and "kw check" in said[2]


def test_strict_stops_at_the_first(rows: Path, run: Here) -> None:
    ran = run("--strict", "rows.cu")
    assert ran.out.endswith(" 700\n") and "rows.cu:6" in ran.err and "before the start" in ran.err
    assert "let" not in ran.err


@pytest.mark.parametrize(("argument", "what"), [("far", "of buffer"), ("use", "freed")])
def test_addresses_further_away_and_freed_memory_fault(rows: Path, run: Here, argument: str, what: str) -> None:
    if argument == "use":
        rows.write_text(ROWS.replace("out[4] + out[5]", "out[2] + out[5]"))
    ran = run("rows.cu", "--", "more", argument)
    assert ran.out.endswith(" 700\n") and what in ran.err and "rows.cu:12" in ran.err


def test_started_by_hand_and_recorded(rows: Path, tmp_path: Path) -> None:
    assert kw("compile", "rows.cu", "-o", "app", "--emit", "exe", cwd=tmp_path).code == 0
    ran = execute(["./app"], cwd=tmp_path)
    assert ran.code == 0 and "rows.cu:6: kernel above reads past a buffer: 48 reads" in ran.err
    strict = execute(["./app"], cwd=tmp_path, KERNELWRIGHT_STRICT="1")
    assert strict.out.endswith(" 700\n")
    recorded = kw("capture", "./app", "-o", "app.capture", cwd=tmp_path)
    assert recorded.code == 0 and "3 launches" in recorded.err
    again = kw("replay", "app.capture", cwd=tmp_path)
    assert again.code == 0, again.err
    profiled = kw("profile", "--json", "./app", cwd=tmp_path)
    assert profiled.code == 0 and json.loads(profiled.out)["kernels"] and "rows.cu:6" in profiled.err
    assert kw("run", "--strict", "--device", "cuda:0", "./app", cwd=tmp_path).code == 2


def test_a_check_always_finds_it_and_goes_on(rows: Path, tmp_path: Path) -> None:
    done = kw("check", "--json", "rows.cu", "--", "more", cwd=tmp_path)
    found = json.loads(done.out)["findings"]
    places = {(one["kind"], one["line"]) for one in found}
    assert done.code == 1 and {("out-of-bounds", 6), ("out-of-bounds", 12)} <= places
    (first,) = [one for one in found if one["line"] == 6]
    assert (
        first["buffer"] == "in (device allocation 1)"
        and first["thread"] == [0, 0, 0]
        and "48 times" in first["message"]
    )


TEXTURE = """
#include <cstdio>
__global__ void fetch(float *out, cudaTextureObject_t in, int first) { out[threadIdx.x] = tex1Dfetch<float>(in, first + threadIdx.x); }
int main(int count, char **words) {
  float *in, *out, back[64];
  for (int i = 0; i < 64; i++) back[i] = i + 1;
  cudaMalloc(&in, sizeof back), cudaMalloc(&out, sizeof back);
  cudaMemcpy(in, back, sizeof back, cudaMemcpyDefault);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = count > 2 ? back : in;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 1 << 20;  // of 256 that are there
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  printf("%d ", cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  if (count > 2) return 0;
  fetch<<<1, 64>>>(out, texture, atoi(words[1]));
  int code = cudaMemcpy(back, out, sizeof back, cudaMemcpyDefault);
  printf("%g %g %g %d\\n", back[0], back[31], back[63], code);
}
"""


@pytest.mark.parametrize(
    ("first", "line", "says"),
    [
        ("0", "0 1 32 64 0", ""),
        ("32", "0 33 64 0 0", "32 reads, up to 128 bytes past the end of 'device allocation 1' (256 bytes)"),
        ("262130", "0 1 32 64 700", "bytes after the end of buffer"),
        ("262144", "0 0 0 0 0", ""),
    ],
)
def test_a_linear_texture_may_be_longer_than_its_memory(
    tmp_path: Path, run: Here, first: str, line: str, says: str
) -> None:
    """Within its memory it reads that, behind it as a load there would, and behind its own end zeros, as CUDA has it."""
    (tmp_path / "texture.cu").write_text("#include <cstdlib>\n" + TEXTURE)
    ran = run("texture.cu", "--device", "h200", "--", first)
    assert ran.out == line + "\n"
    assert says in ran.err and bool(says) == bool(ran.err)


def test_a_texture_of_memory_that_is_none_of_the_devices_is_refused(tmp_path: Path, run: Here) -> None:
    (tmp_path / "texture.cu").write_text("#include <cstdlib>\n" + TEXTURE)
    assert run("texture.cu", "--device", "h200", "--", "0", "host").out == "1 "
