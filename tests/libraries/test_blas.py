"""cuBLAS's routines against SciPy's BLAS: random shapes, transposes, leading dimensions, increments and types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import blas

from .routine_calls import Answer, Array, On, answer, memory

TYPES: dict[str, Any] = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
REALS: dict[str, Any] = {"S": np.float32, "D": np.float64, "C": np.float32, "Z": np.float64}

letters = st.sampled_from("SDCZ")
sizes = st.integers(1, 17)
steps = st.sampled_from([1, 2, 3, -1, -2])
pads = st.integers(0, 3)
operations = st.integers(0, 2)
bits = st.integers(0, 1)
factors = st.sampled_from([0.0, 1.0, -0.5, 2.25])
seeds = st.integers(0, 1 << 30)
FEW = settings(max_examples=60, deadline=None)


class Data:
    """Random values of one type."""

    def __init__(self, letter: str, seed: int) -> None:
        self.letter = letter
        self.dtype = TYPES[letter]
        self._random = np.random.default_rng(seed)

    def values(self, *shape: int) -> Array:
        made = self._random.standard_normal(shape)
        if self.letter in "CZ":
            made = made + 1j * self._random.standard_normal(shape)
        return made.astype(self.dtype)

    def number(self, value: float, real: bool = False) -> Any:
        if self.letter in "CZ" and not real and value:
            return self.dtype(value + 0.25j)
        return (REALS[self.letter] if real else self.dtype)(value)

    def reference(self, name: str) -> Any:
        return getattr(blas, self.letter.lower() + name)


def close(found: Array, expected: Array) -> None:
    tolerance = 2e-5 if found.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 10)


# ---- level 1 ----


@FEW
@given(letters, sizes, steps, steps, factors, seeds)
def test_axpy_copy_swap(letter: str, n: int, incx: int, incy: int, a: float, seed: int) -> None:
    data = Data(letter, seed)
    x, y, alpha = data.values(n), data.values(n), data.number(a)
    with memory() as m:
        at_x, at_y = m.put_vector(x, incx), m.put_vector(y, incy)
        m.call(f"cublas{letter}axpy_v2", n, alpha, at_x, incx, at_y, incy)
        close(m.get_vector(at_y, y, incy), data.reference("axpy")(x, y.copy(), a=alpha))
        m.call(f"cublas{letter}swap_v2", n, at_x, incx, at_y, incy)
        close(m.get_vector(at_y, x, incy), x)
        m.call(f"cublas{letter}copy_v2", n, at_y, incy, at_x, incx)
        close(m.get_vector(at_x, x, incx), x)


@FEW
@given(letters, sizes, st.integers(1, 3), factors, seeds)
def test_scal_nrm2_asum_amax(letter: str, n: int, step: int, a: float, seed: int) -> None:
    data = Data(letter, seed)
    x, alpha = data.values(n), data.number(a)
    real = REALS[letter]
    prefix = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    reference = {"S": "s", "D": "d", "C": "sc", "Z": "dz"}[letter]
    with memory() as m:
        at = m.put_vector(x, step)
        found = answer(m.call(f"cublas{prefix}nrm2_v2", n, at, step, Answer(real(0))), real)
        close(found, getattr(blas, reference + "nrm2")(x))
        found = answer(m.call(f"cublas{prefix}asum_v2", n, at, step, Answer(real(0))), real)
        close(found, getattr(blas, reference + "asum")(x))
        found = answer(m.call(f"cublasI{letter.lower()}amax_v2", n, at, step, Answer(np.int32(0))), np.int32)
        assert found == getattr(blas, f"i{letter.lower()}amax")(x) + 1
        m.call(f"cublas{letter}scal_v2", n, alpha, at, step)
        close(m.get_vector(at, x, step), data.reference("scal")(alpha, x.copy()))


@FEW
@given(letters, sizes, steps, steps, seeds)
def test_dot(letter: str, n: int, incx: int, incy: int, seed: int) -> None:
    data = Data(letter, seed)
    x, y = data.values(n), data.values(n)
    with memory() as m:
        at = m.put_vector(x, incx), incx, m.put_vector(y, incy), incy
        for name in ["dot"] if letter in "SD" else ["dotu", "dotc"]:
            call = m.call(f"cublas{letter}{name}_v2", n, *at, Answer(data.dtype(0)))
            close(answer(call, data.dtype), data.reference(name)(x, y))


@FEW
@given(st.sampled_from("SD"), sizes, steps, steps, seeds, st.sampled_from([-2.0, -1.0, 0.0, 1.0]))
def test_rotations(letter: str, n: int, incx: int, incy: int, seed: int, flag: float) -> None:
    data = Data(letter, seed)
    x, y, parameters = data.values(n), data.values(n), data.values(5)
    parameters[0] = flag
    with memory() as m:
        at = m.put_vector(x, incx), incx, m.put_vector(y, incy), incy
        c, s = data.values(2)
        m.call(f"cublas{letter}rot_v2", n, *at, c, s)
        x, y = data.reference("rot")(x, y, c, s)
        m.call(f"cublas{letter}rotm_v2", n, *at, parameters)
        x, y = data.reference("rotm")(x, y, parameters)
        close(m.get_vector(at[0], x, incx), x)
        close(m.get_vector(at[2], y, incy), y)


@pytest.mark.parametrize("a, b", [(3, 4), (4, -3), (0, 0), (0, 2), (-2, 0), (1e30, 1e30), (-5, 1)])
def test_rotg(a: float, b: float) -> None:
    with memory() as m:
        call = m.call("cublasDrotg_v2", *[Answer(np.float64(v)) for v in (a, b, 0, 0)])
        c, s = blas.drotg(a, b)
        r = answer(call, np.float64, 0)
        close(np.array([answer(call, np.float64, 2), answer(call, np.float64, 3)]), np.array([c, s]))
        assert c * a + s * b == pytest.approx(r)


def test_no_numbers_have_the_sum_zero() -> None:
    with memory() as m:
        assert answer(m.call("cublasDdot_v2", 0, 0, 1, 0, 1, Answer()), np.float64) == 0
        assert answer(m.call("cublasSnrm2_v2", 0, 0, 1, Answer(np.float32(9))), np.float32) == 0
        assert answer(m.call("cublasIsamax_v2", 3, 0, 0, Answer(np.int32(9))), np.int32) == 0


def test_a_norm_does_not_overflow() -> None:
    with memory() as m:
        x = m.put(np.array([3e200, 4e200]))
        assert answer(m.call("cublasDnrm2_v2", 2, x, 1, Answer()), np.float64) == pytest.approx(5e200)


def test_numbers_on_the_device() -> None:
    with memory() as m:
        x, alpha = m.put(np.array([1.0, 2.0])), m.put(np.array([3.0]))
        result = m.put(np.array([0.0]))
        m.call("cublasDscal_v2", 2, On(alpha), x, 1)
        call = m.call("cublasDdot_v2", 2, x, 1, x, 1, On(result))
        assert m.get(result, np.empty(1)) == 45 and not call.answers


# ---- level 2 ----


@FEW
@given(letters, sizes, sizes, operations, pads, steps, steps, factors, factors, seeds)
def test_gemv(
    letter: str, rows: int, columns: int, trans: int, pad: int, incx: int, incy: int, a: float, b: float, seed: int
) -> None:
    data = Data(letter, seed)
    matrix = data.values(rows, columns)
    nx, ny = (columns, rows) if trans == 0 else (rows, columns)
    x, y = data.values(nx), data.values(ny)
    alpha, beta = data.number(a), data.number(b)
    expected = data.reference("gemv")(alpha, matrix, x, beta=beta, y=y.copy(), trans=trans)
    if b == 0:
        y[:] = np.nan
    with memory() as m:
        at = m.put_vector(y, incy)
        ld = rows + pad
        m.call(
            f"cublas{letter}gemv_v2",
            trans,
            rows,
            columns,
            alpha,
            m.put_matrix(matrix, ld),
            ld,
            m.put_vector(x, incx),
            incx,
            beta,
            at,
            incy,
        )
        close(m.get_vector(at, y, incy), expected)


def half(matrix: Array, uplo: int, other: complex) -> Array:
    """One triangle, something else beside it that nobody is to look at."""
    inside = np.triu(np.ones(matrix.shape, bool)) if uplo else np.tril(np.ones(matrix.shape, bool))
    return np.where(inside, matrix, other).astype(matrix.dtype)


@FEW
@given(letters, sizes, bits, pads, steps, steps, factors, factors, seeds, st.booleans())
def test_symv(
    letter: str, n: int, uplo: int, pad: int, incx: int, incy: int, a: float, b: float, seed: int, hermitian: bool
) -> None:
    data = Data(letter, seed)
    hermitian = hermitian and letter in "CZ"
    matrix = data.values(n, n)
    whole = matrix + (matrix.conj().T if hermitian else matrix.T)
    x, y = data.values(n), data.values(n)
    alpha, beta = data.number(a), data.number(b)
    expected = alpha * (whole @ x) + beta * y
    with memory() as m:
        at = m.put_vector(y if b else y * np.nan, incy)
        name = "hemv" if hermitian else "symv"
        m.call(
            f"cublas{letter}{name}_v2",
            uplo,
            n,
            alpha,
            m.put_matrix(half(whole, uplo, np.nan), n + pad),
            n + pad,
            m.put_vector(x, incx),
            incx,
            beta,
            at,
            incy,
        )
        close(m.get_vector(at, y, incy), expected)


@FEW
@given(letters, sizes, sizes, pads, steps, steps, factors, seeds)
def test_ger(letter: str, rows: int, columns: int, pad: int, incx: int, incy: int, a: float, seed: int) -> None:
    data = Data(letter, seed)
    matrix, x, y, alpha = data.values(rows, columns), data.values(rows), data.values(columns), data.number(a)
    for name in ["ger"] if letter in "SD" else ["geru", "gerc"]:
        with memory() as m:
            ld = rows + pad
            at = m.put_matrix(matrix, ld)
            m.call(
                f"cublas{letter}{name}_v2",
                rows,
                columns,
                alpha,
                m.put_vector(x, incx),
                incx,
                m.put_vector(y, incy),
                incy,
                at,
                ld,
            )
            close(m.get_matrix(at, matrix, ld), data.reference(name)(alpha, x, y, a=matrix.copy()))


@FEW
@given(letters, sizes, bits, pads, steps, steps, factors, seeds)
def test_rank_updates_of_a_triangle(
    letter: str, n: int, uplo: int, pad: int, incx: int, incy: int, a: float, seed: int
) -> None:
    data = Data(letter, seed)
    x, y, whole = data.values(n), data.values(n), data.values(n, n)
    ld = n + pad
    cases = [("syr", False), ("syr2", False)] + ([("her", True), ("her2", True)] if letter in "CZ" else [])
    for name, hermitian in cases:
        start = whole + whole.conj().T if hermitian else whole
        alpha = data.number(a, real=name == "her")
        other = (y if name.endswith("2") else x).conj() if hermitian else y if name.endswith("2") else x
        change = alpha * np.outer(x, other)
        if name.endswith("2"):
            change = change + (change.conj().T if hermitian else change.T)
        expected = np.where(half(np.ones((n, n)), uplo, 0) == 1, start + change, start)
        with memory() as m:
            at = m.put_matrix(start, ld)
            vectors: list[int] = [m.put_vector(x, incx), incx]
            if name.endswith("2"):
                vectors += [m.put_vector(y, incy), incy]
            m.call(f"cublas{letter}{name}_v2", uplo, n, alpha, *vectors, at, ld)
            close(m.get_matrix(at, start, ld), expected)


def triangle(data: Data, n: int, uplo: int, unit: int) -> tuple[Array, Array]:
    """A well-conditioned triangle as it is meant, and as it lies in memory."""
    meant = half(data.values(n, n) / n + 2 * np.eye(n, dtype=data.dtype), uplo, 0)
    stored = half(meant, uplo, np.nan)
    if unit:
        np.fill_diagonal(meant, 1)
        np.fill_diagonal(stored, np.nan)
    return meant, stored


def operated(matrix: Array, trans: int) -> Array:
    return (matrix, matrix.T, matrix.conj().T)[trans]


@FEW
@given(letters, st.integers(1, 150), bits, operations, bits, pads, steps, seeds)
def test_triangles_and_a_vector(
    letter: str, n: int, uplo: int, trans: int, unit: int, pad: int, step: int, seed: int
) -> None:
    data = Data(letter, seed)
    meant, stored = triangle(data, n, uplo, unit)
    x = data.values(n)
    with memory() as m:
        at, ld = m.put_vector(x, step), n + pad
        matrix = m.put_matrix(stored, ld)
        m.call(f"cublas{letter}trmv_v2", uplo, trans, unit, n, matrix, ld, at, step)
        close(m.get_vector(at, x, step), operated(meant, trans) @ x)
        m.call(f"cublas{letter}trsv_v2", uplo, trans, unit, n, matrix, ld, at, step)
        found = m.get_vector(at, x, step)
        np.testing.assert_allclose(
            found, x, rtol=2e-3 if letter in "SC" else 1e-9, atol=2e-4 if letter in "SC" else 1e-9
        )


# ---- level 3 ----


@FEW
@given(letters, sizes, sizes, st.integers(0, 17), operations, operations, pads, factors, factors, seeds)
def test_gemm(
    letter: str, rows: int, columns: int, k: int, ta: int, tb: int, pad: int, a: float, b: float, seed: int
) -> None:
    data = Data(letter, seed)
    left, right, c = data.values(rows, k), data.values(k, columns), data.values(rows, columns)
    alpha, beta = data.number(a), data.number(b)
    expected = alpha * (left @ right) + beta * c
    stored = operated(left, ta), operated(right, tb), c if b else c * np.nan
    ld = [matrix.shape[0] + pad or 1 for matrix in stored]
    with memory() as m:
        at = [m.put_matrix(matrix, each) for matrix, each in zip(stored, ld, strict=True)]
        call = m.call(
            f"cublas{letter}gemm_v2", ta, tb, rows, columns, k, alpha, at[0], ld[0], at[1], ld[1], beta, at[2], ld[2]
        )
        close(m.get_matrix(at[2], c, ld[2]), expected)
        assert call.time_us > 0
        assert ((at[2], c.nbytes) in call.reads) == (b != 0 and not pad) or pad


@FEW
@given(letters, sizes, sizes, bits, bits, pads, factors, factors, seeds, st.booleans())
def test_symm(
    letter: str, rows: int, columns: int, side: int, uplo: int, pad: int, a: float, b: float, seed: int, hermitian: bool
) -> None:
    data = Data(letter, seed)
    hermitian = hermitian and letter in "CZ"
    n = columns if side else rows
    matrix = data.values(n, n)
    whole = matrix + (matrix.conj().T if hermitian else matrix.T)
    right, c = data.values(rows, columns), data.values(rows, columns)
    alpha, beta = data.number(a), data.number(b)
    expected = alpha * (right @ whole if side else whole @ right) + beta * c
    with memory() as m:
        at = m.put_matrix(c if b else c * np.nan, rows + pad)
        name = "hemm" if hermitian else "symm"
        m.call(
            f"cublas{letter}{name}_v2",
            side,
            uplo,
            rows,
            columns,
            alpha,
            m.put_matrix(half(whole, uplo, np.nan), n + pad),
            n + pad,
            m.put_matrix(right, rows + pad),
            rows + pad,
            beta,
            at,
            rows + pad,
        )
        close(m.get_matrix(at, c, rows + pad), expected)


@FEW
@given(letters, sizes, sizes, bits, bits, pads, factors, factors, seeds)
def test_rank_k(letter: str, n: int, k: int, uplo: int, trans: int, pad: int, a: float, b: float, seed: int) -> None:
    data = Data(letter, seed)
    left, right, c = data.values(n, k), data.values(n, k), data.values(n, n)
    cases = [("syrk_v2", False), ("syr2k_v2", False), ("syrkx", False)]
    cases += [("herk_v2", True), ("her2k_v2", True)] if letter in "CZ" else []
    for name, hermitian in cases:
        start = c + c.conj().T if hermitian else c
        has_two = name != "syrk_v2" and name != "herk_v2"
        alpha, beta = data.number(a, real=name == "herk_v2"), data.number(b, real=hermitian)
        other = right if has_two else left
        product = alpha * (left @ (other.conj().T if hermitian else other.T))
        if name in ("syr2k_v2", "her2k_v2"):
            product = product + (product.conj().T if hermitian else product.T)
        expected = half(product + beta * start, uplo, 77)
        code = (2 if hermitian else 1) if trans else 0
        with memory() as m:
            stored = operated(left, code), operated(right, code)
            ld = stored[0].shape[0] + pad
            at = m.put_matrix(half(start if b else start * np.nan, uplo, 77), n + pad)
            matrices = [word for matrix in stored[: 1 + has_two] for word in (m.put_matrix(matrix, ld), ld)]
            m.call(f"cublas{letter}{name}", uplo, code, n, k, alpha, *matrices, beta, at, n + pad)
            close(m.get_matrix(at, c, n + pad), expected)


@FEW
@given(letters, st.integers(1, 90), sizes, bits, bits, operations, bits, pads, factors, seeds)
def test_triangles_and_a_matrix(
    letter: str, n: int, other: int, side: int, uplo: int, trans: int, unit: int, pad: int, a: float, seed: int
) -> None:
    data = Data(letter, seed)
    rows, columns = (other, n) if side else (n, other)
    meant, stored = triangle(data, n, uplo, unit)
    b, alpha = data.values(rows, columns), data.number(a)
    op = operated(meant, trans)
    with memory() as m:
        matrix, at, to = m.put_matrix(stored, n + pad), m.put_matrix(b, rows + pad), m.put_matrix(b * np.nan, rows)
        common = side, uplo, trans, unit, rows, columns
        m.call(f"cublas{letter}trmm_v2", *common, alpha, matrix, n + pad, at, rows + pad, to, rows)
        close(m.get_matrix(to, b, rows), alpha * (b @ op if side else op @ b))
        m.call(f"cublas{letter}trsm_v2", *common, alpha, matrix, n + pad, at, rows + pad)
        found = m.get_matrix(at, b, rows + pad)
        back = found @ op if side else op @ found
        np.testing.assert_allclose(
            back, alpha * b, rtol=2e-3 if letter in "SC" else 1e-9, atol=2e-4 if letter in "SC" else 1e-9
        )


@FEW
@given(letters, sizes, sizes, operations, operations, pads, factors, factors, seeds)
def test_geam_and_dgmm(
    letter: str, rows: int, columns: int, ta: int, tb: int, pad: int, a: float, b: float, seed: int
) -> None:
    data = Data(letter, seed)
    left, right = data.values(rows, columns), data.values(rows, columns)
    alpha, beta, x = data.number(a), data.number(b), data.values(max(rows, columns))
    with memory() as m:
        stored = operated(left, ta), operated(right, tb)
        at = [m.put_matrix(matrix, matrix.shape[0] + pad) for matrix in stored]
        ld = [matrix.shape[0] + pad for matrix in stored]
        to = m.put_matrix(left * np.nan, rows + pad)
        m.call(f"cublas{letter}geam", ta, tb, rows, columns, alpha, at[0], ld[0], beta, at[1], ld[1], to, rows + pad)
        close(m.get_matrix(to, left, rows + pad), alpha * left + beta * right)
        for side, expected in ((0, x[:rows, None] * left), (1, left * x[None, :columns])):
            at_left = m.put_matrix(left, rows + pad)
            m.call(
                f"cublas{letter}dgmm", side, rows, columns, at_left, rows + pad, m.put_vector(x, 2), 2, to, rows + pad
            )
            close(m.get_matrix(to, left, rows + pad), expected)
