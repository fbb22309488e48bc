"""thrust's random and complex numbers with our own headers: on both sides, against Python.

That the sequences of random numbers are those of NVIDIA's thrust was looked at beside the project: 100 numbers of three generators and
seven distributions, host and device, are the same to the bit (CUDA 12.9).
"""

from __future__ import annotations

import cmath
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kernelwright.executable import build_executable
from kernelwright.pipeline import compile as compile_program
from tests.headers.test_thrust import run

BOTH = """
template <class F> __global__ void on_device(F f, double *out) { f(out); }
template <class F> void both(F f, int n) {
    double *out, here[400];
    cudaMallocManaged(&out, n * sizeof *out);
    on_device<<<1, 1>>>(f, out);
    cudaDeviceSynchronize();
    f(here);
    for (int i = 0; i < n; i++) std::printf("%.17g %.17g\\n", out[i], here[i]);
}
"""
RANDOM = (
    """#include <thrust/random.h>
#include <cstdio>
"""
    + BOTH
    + """
struct Draw { __host__ __device__ void operator()(double *out) const {
    thrust::default_random_engine engine;
    thrust::minstd_rand0 other(7);
    thrust::random::minstd_rand zero(0);
    for (int i = 0; i < 3; i++) *out++ = engine(), *out++ = other(), *out++ = zero();
    engine.discard(1000003); *out++ = engine();
    thrust::uniform_real_distribution<float> real(-1.5f, 2.f);
    thrust::uniform_int_distribution<int> whole(3, 77);
    thrust::uniform_int_distribution<short> small(-5, 3000);
    for (int i = 0; i < 5; i++) *out++ = real(engine), *out++ = whole(engine), *out++ = small(engine);
    *out++ = engine.min; *out++ = engine.max; *out++ = whole.max(); *out++ = engine == zero;
} };
int main() { both(Draw(), 29); }
"""
)
COMPLEX = (
    """#include <thrust/complex.h>
#include <cstdio>
#include <iostream>
"""
    + BOTH
    + """
template <class T> struct Compute { __host__ __device__ void operator()(double *out) const {
    typedef thrust::complex<T> C;
    C values[4] = {C(1.5, -2), C(-3, 0.25), C(0.1, 7), C(2)};
    auto put = [&](auto z) { *out++ = z.real(), *out++ = z.imag(); };
    for (int i = 0; i < 4; i++) {
        C a = values[i], b = values[(i + 1) % 4];
        put(a + b); put(a - b); put(a * b); put(a / b); put(a * 2); put(2 / a); put(3 - a); put(-a); put(thrust::conj(a));
        put(thrust::exp(a)); put(thrust::log(a)); put(thrust::sqrt(a)); put(thrust::pow(a, b)); put(thrust::sin(a));
        put(thrust::cos(a)); put(thrust::tan(a)); put(thrust::sinh(a)); put(thrust::cosh(a)); put(thrust::tanh(a));
        put(thrust::complex<double>(0.5, 1) * a);
        put(C(thrust::abs(a), thrust::arg(a))); put(C(thrust::norm(a), a == b)); put(thrust::polar(T(2), a.real()));
        a += b; a *= 2; a /= b; a -= C(1); a.imag(5); put(a);
    }
} };
int main() {
    both(Compute<float>(), 192);
    both(Compute<double>(), 192);
    std::cout << thrust::complex<float>(std::complex<double>(1, 2)) << "\\n";
}
"""
)


def said_by(source: str, folder: Path) -> list[str]:
    (folder / "app.cu").write_text(source)
    build_executable(compile_program(folder / "app.cu"), [], folder / "app")
    done: subprocess.CompletedProcess[str] = run(folder / "app")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class Engine:
    def __init__(self, multiplier: int, seed: int) -> None:
        self.multiplier, self.state = multiplier, seed % 2147483647 or 1

    def __call__(self, steps: int = 1) -> int:
        self.state = self.state * pow(self.multiplier, steps, 2147483647) % 2147483647
        return self.state

    def real(self, low: float, high: float, kind: type[np.floating]) -> float:
        unit = kind(self() - 1) / (kind(1) + kind(2147483645))
        return float(unit * (kind(high) - kind(low)) + kind(low))


def test_random_numbers_are_the_generators(tmp_path: Path) -> None:
    engine, other, zero = Engine(48271, 1), Engine(16807, 7), Engine(48271, 0)
    wanted: list[float] = []
    for _ in range(3):
        wanted += [engine(), other(), zero()]
    wanted.append(engine(1000004))
    for _ in range(5):
        wanted += [
            engine.real(-1.5, 2, np.float32), int(engine.real(3, 78, np.float64)), int(engine.real(-5, 3001, np.float32)),
        ]  # fmt: skip
    wanted += [1, 2147483646, 77, 0]
    rows = [list(map(float, line.split())) for line in said_by(RANDOM, tmp_path)]
    for number, row in enumerate(rows):
        assert row == pytest.approx([wanted[number]] * 2, rel=3e-7), number


def computed() -> list[complex]:
    values = [1.5 - 2j, -3 + 0.25j, 0.1 + 7j, 2 + 0j]
    found: list[complex] = []
    for i, a in enumerate(values):
        b = values[(i + 1) % 4]
        found += [a + b, a - b, a * b, a / b, a * 2, 2 / a, 3 - a, -a, a.conjugate(), cmath.exp(a), cmath.log(a), cmath.sqrt(a), a**b,
                  cmath.sin(a), cmath.cos(a), cmath.tan(a), cmath.sinh(a), cmath.cosh(a), cmath.tanh(a), (0.5 + 1j) * a,
                  complex(abs(a), cmath.phase(a)), complex(abs(a) ** 2, a == b), 2 * cmath.exp(1j * a.real)]  # fmt: skip
        found.append(complex(((a + b) * 2 / b - 1).real, 5))
    return found


def test_complex_numbers_are_pythons(tmp_path: Path) -> None:
    *rows, last = said_by(COMPLEX, tmp_path)
    assert last == "(1,2)" and len(rows) == 384
    numbers = np.array([list(map(float, line.split())) for line in rows]).reshape(2, 96, 2, 2)
    for found, tolerance in zip(numbers, (3e-6, 1e-14), strict=True):
        for side in (0, 1):
            got = found[:, 0, side] + 1j * found[:, 1, side]
            np.testing.assert_allclose(got, computed(), rtol=tolerance, atol=tolerance)
