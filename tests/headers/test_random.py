"""curand_kernel.h makes cuRAND's own numbers.

The expected numbers were printed by cuRAND 10.3.9 (CUDA 12.9), its device functions compiled for the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .conftest import CudaCompiler
from .jit import Program

# seed, subsequence, offset; four numbers, a uniform and a uniform double; then of Philox: six numbers, four at once, a
# uniform, a uniform double, the first and last of four uniforms, and one number after skipping 5 and two sequences.
SEQUENCES: list[tuple[tuple[int, int, int], list[float], list[float]]] = [
    ((1234, 0, 0),
     [624778773, 1867875844, 3739671282, 1954919316, 0.857092559, 0.20140365320083958],
     [546353992, 3665621163, 1140953199, 3419031310, 2666454581, 482218876, 4196888723, 343858512, 1070188760, 4228315704,
      0.797226608, 0.53560227574780583, 0.711526513, 0.908145368, 166037638]),
    ((1234, 1, 0),
     [3522650202, 3978931785, 2198015705, 2308946676, 0.809246421, 0.44933758021527742],
     [3507855656, 1392278645, 3354607383, 253049307, 118660703, 1698527859, 495137217, 2264860335, 738435355, 1259184545,
      0.401275069, 0.61303242691792548, 0.161499515, 0.0903132707, 1649926432]),
    ((1234, 7, 3),
     [324612358, 2988894868, 2223688508, 906701663, 0.448197365, 0.78080716336335376],
     [502001991, 843890362, 2897886456, 3571722420, 296027329, 3990533219, 711373462, 3601287622, 1545882237, 3829701983,
      0.697419703, 0.090237997705116868, 0.895910978, 0.553618431, 2478815268]),
    ((244837814094590, 123456, 1000),
     [3602408477, 1327946272, 3299710462, 2395520978, 0.335726261, 0.45191478766606136],
     [222222984, 239346770, 3317645907, 1864700822, 3958244706, 3510928162, 2140535112, 1607326118, 3449574438, 3149118504,
      0.842874229, 0.89412012952379882, 0.112257712, 0.409451723, 1641900246]),
    ((42, 4294967297, 5),
     [1976461006, 3389461198, 1515425404, 141078195, 0.62937808, 0.020448390348945134],
     [412622924, 2371264957, 3251791087, 146458605, 698585694, 3505339401, 4216412683, 1527756319, 3599608481, 4202948990,
      0.512227893, 0.46379767940379679, 0.691454113, 0.0701470748, 1623633297]),
    ((0, 0, 4886718345),
     [3788098675, 1619190760, 4165799799, 2510140789, 0.539811552, 0.78934242859335302],
     [3298921473, 1683960757, 3947125015, 3573443076, 3923332502, 1526445098, 1885778152, 2224520975, 2803913895, 368930272,
      0.633222997, 0.62575971335172653, 0.822728157, 0.232290223, 3264743791]),
    ((99, 4095, 0),
     [3704360778, 186454603, 3043014712, 395976097, 0.284143955, 0.96097166108726229],
     [1941792587, 3141760504, 2076328315, 4019154480, 1799153182, 3375310604, 1815254855, 184710537, 2765810507, 346547633,
      0.985117316, 0.092821151483803988, 0.341455638, 0.654651701, 384309969]),
]  # fmt: skip

# After curand_init(77, 3, 2): three normals, three in double, a pair, a pair in double, log-normals (1, 0.5), one number.
NORMALS = {
    "curandStateXORWOW": [
        0.349602699, -1.18956065, -2.28752184, 0.63829051891907018, -0.73084918681921485, 0.14118916292629582,
        -0.682353377, 0.809499979, 0.74554392401613745, 1.2983188287640226, 3.51038957, 1.8469680172280918,
        2.46076703, 1.16184068, 3667739672],
    "curandStatePhilox4_32_10_t": [
        1.37688327, -0.429601759, -0.824649394, 0.64421068657008451, 0.2055731266250215, 0.014001007487962206,
        -0.773890853, -0.565135777, -0.84333747363668643, -0.90953197646196704, 0.878202736, 3.5758740426436262,
        2.16771317, 1.62487411, 2900938519],
}  # fmt: skip
# Of Philox: four normals, two uniform doubles, the first and last of four log-normals, one number.
FOURS = [1.37688327, -0.429601759, -0.824649394, 1.15161896, 0.79561978877652706, 0.20083798115260248, 2.34572768,
         3.66745853, 2713667756]  # fmt: skip

_SOURCE = """
#include <curand_kernel.h>
extern "C" __device__ void xorwow(unsigned long long seed, unsigned long long sequence, unsigned long long offset, double *o) {
  curandState s; curand_init(seed, sequence, offset, &s);
  for (int i = 0; i < 4; i++) o[i] = curand(&s);
  o[4] = curand_uniform(&s); o[5] = curand_uniform_double(&s);
}
extern "C" __device__ void philox(unsigned long long seed, unsigned long long sequence, unsigned long long offset, double *o) {
  curandStatePhilox4_32_10_t s; curand_init(seed, sequence, offset, &s);
  for (int i = 0; i < 6; i++) o[i] = curand(&s);
  uint4 q = curand4(&s); o[6] = q.x; o[7] = q.y; o[8] = q.z; o[9] = q.w;
  o[10] = curand_uniform(&s); o[11] = curand_uniform_double(&s);
  float4 f = curand_uniform4(&s); o[12] = f.x; o[13] = f.w;
  skipahead(5, &s); skipahead_sequence(2, &s); o[14] = curand(&s);
}
template <class State> __device__ void normals(double *o) {
  State s; curand_init(77, 3, 2, &s);
  for (int i = 0; i < 3; i++) o[i] = curand_normal(&s);
  for (int i = 3; i < 6; i++) o[i] = curand_normal_double(&s);
  float2 a = curand_normal2(&s); o[6] = a.x; o[7] = a.y;
  double2 b = curand_normal2_double(&s); o[8] = b.x; o[9] = b.y;
  o[10] = curand_log_normal(&s, 1.0f, 0.5f); o[11] = curand_log_normal_double(&s, 1.0, 0.5);
  float2 c = curand_log_normal2(&s, 1.0f, 0.5f); o[12] = c.x; o[13] = c.y; o[14] = curand(&s);
}
extern "C" __device__ void normals_curandStateXORWOW(double *o) { normals<curandStateXORWOW>(o); }
extern "C" __device__ void normals_curandStatePhilox4_32_10_t(double *o) { normals<curandStatePhilox4_32_10_t>(o); }
extern "C" __device__ void fours(double *o) {
  curandStatePhilox4_32_10_t s; curand_init(77, 3, 2, &s);
  float4 f = curand_normal4(&s); o[0] = f.x; o[1] = f.y; o[2] = f.z; o[3] = f.w;
  double2 d = curand_uniform2_double(&s); o[4] = d.x; o[5] = d.y;
  float4 g = curand_log_normal4(&s, 1.0f, 0.5f); o[6] = g.x; o[7] = g.w; o[8] = curand(&s);
}
extern "C" __device__ void carry(double *o) {
  curandStatePhilox4_32_10_t s; curand_init(1, 0xffffffff, 0, &s);
  for (int i = 0; i < 5; i++) skipahead(~0ULL, &s);
  o[0] = curand(&s);
}
static_assert(sizeof(curandStateXORWOW) == 48 && sizeof(curandStatePhilox4_32_10) == 64, "cuRAND's sizes");
"""


@pytest.fixture(scope="module")
def program(compile_cuda: CudaCompiler) -> Program:
    compiled = compile_cuda(_SOURCE)
    assert compiled.ok, compiled.errors
    return Program(compiled.ir)


def _same(program: Program, name: str, expected: list[float], *arguments: Any, rtol: float = 1e-7) -> None:
    out = np.zeros(len(expected))
    program.call(name, *arguments, out)
    for got, wanted in zip(out.tolist(), expected, strict=True):
        if float(wanted).is_integer():
            assert got == wanted
        else:
            np.testing.assert_allclose(got, wanted, rtol=rtol)


@pytest.mark.parametrize(("start", "xorwow", "philox"), SEQUENCES, ids=lambda v: str(v) if isinstance(v, tuple) else "")
def test_sequences(start: tuple[int, int, int], xorwow: list[float], philox: list[float], program: Program) -> None:
    _same(program, "xorwow", xorwow, *start)
    _same(program, "philox", philox, *start)


@pytest.mark.parametrize("state", NORMALS)
def test_normal_and_log_normal(state: str, program: Program) -> None:
    _same(program, f"normals_{state}", NORMALS[state], rtol=2e-6)


def test_fours(program: Program) -> None:
    _same(program, "fours", FOURS, rtol=2e-6)


def test_the_counter_carries_into_the_sequence(program: Program) -> None:
    _same(program, "carry", [3462111305])


def test_it_compiles_for_the_host_pass_too(compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda(
        "#include <curand_kernel.h>\n__global__ void k(curandState *s) { curand_init(1, 2, 3, s); }", side="host"
    )
    assert compiled.ok, compiled.errors
