"""``cuda_gl_interop.h``: programs that name it and do not need it compile; what calls it is refused by name."""

from __future__ import annotations

from pathlib import Path

from tests.kw_process import kw

NAMES_IT = """
#include <cstdio>
#include <cuda_gl_interop.h>
struct cudaGraphicsResource *shared;
__global__ void nothing() {}
int main() {
  nothing<<<1, 1>>>();
  printf("%d\\n", (int)cudaDeviceSynchronize() + (int)cudaGraphicsMapFlagsWriteDiscard);
}
"""


def test_a_program_that_names_it_runs(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(NAMES_IT)
    done = kw("run", "--device", "h200", "app.cu", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_a_program_that_calls_it_is_refused(tmp_path: Path) -> None:
    called = NAMES_IT.replace(
        "nothing<<<1", "cudaGraphicsGLRegisterBuffer(&shared, 1, cudaGraphicsMapFlagsNone); nothing<<<1"
    )
    (tmp_path / "app.cu").write_text(called)
    done = kw("compile", "app.cu", "-o", "app", cwd=tmp_path)
    assert done.returncode == 2 and "cudaGraphicsGLRegisterBuffer" in done.stderr, done.stderr
    assert "copy through the host instead of sharing with graphics" in done.stderr
    assert not (tmp_path / "app").exists()
