"""cuSOLVER's routines against SciPy: factors multiply to the matrix, solutions solve, and what is not to be read or written is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg as lapack
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.libraries.routine_call import MemoryFault

from .routine_calls import Array, Memory, RandomMatrices, memory

LETTERS: dict[Any, str] = {np.float32: "S", np.float64: "D", np.complex64: "C", np.complex128: "Z"}
REAL: dict[Any, Any] = {
    np.float32: np.float32,
    np.float64: np.float64,
    np.complex64: np.float32,
    np.complex128: np.float64,
}
TOLERANCE: dict[Any, float] = {np.float32: 2e-5, np.float64: 1e-13, np.complex64: 2e-5, np.complex128: 1e-13}
LOWER, UPPER = 0, 1
LEFT, RIGHT = 0, 1

types = st.sampled_from(list(LETTERS))
sizes = st.integers(0, 9)
pads = st.integers(0, 3)
triangles = st.sampled_from([LOWER, UPPER])
seeds = st.integers(0, 1 << 30)
FEW = settings(max_examples=60, deadline=None)


class Data(RandomMatrices):
    """Random matrices of a type, and of what is symmetric one triangle: the other is NaN, which would be seen if it were read."""

    def regular(self, n: int) -> Array:
        """Far from singular, with pivots that are not on the diagonal."""
        made = self.dense(n, n) + 3 * n**0.5 * np.eye(n)[self.random.permutation(n)]
        return made.astype(self.dtype)

    def hermitian(self, n: int) -> Array:
        a = self.dense(n, n)
        return ((a + a.conj().T) / 2).astype(self.dtype)

    def positive(self, n: int) -> Array:
        a = self.dense(n, n)
        return (a @ a.conj().T + n * np.eye(n)).astype(self.dtype)


def half(a: Array, uplo: int) -> Array:
    is_other = np.tri(len(a), k=-1, dtype=bool) if uplo == UPPER else np.tri(len(a), k=-1, dtype=bool).T
    return np.where(is_other, a.dtype.type(np.nan), a)


def triangle(a: Array, uplo: int) -> Array:
    return np.triu(a) if uplo == UPPER else np.tril(a)


def wide(a: Array) -> Array:
    """In double precision: the factors of nearly dependent columns are far from each other in single."""
    return a.astype(np.result_type(a, np.float64))


def name(dtype: Any, end: str) -> str:
    letter = LETTERS[dtype]
    if letter in "CZ":
        end = end.replace("or", "un", 1) if end.startswith("or") else end.replace("sy", "he", 1)
    return f"cusolverDn{letter}{end}"


def close(found: Array, expected: Array, dtype: Any, factor: float = 1) -> None:
    scale = max(float(np.abs(expected).max()), 1) if np.size(expected) else 1
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[dtype] * scale * factor * 20)


class Info:
    """devInfo, which is something else before a call."""

    def __init__(self, m: Memory, count: int = 1) -> None:
        self.m, self.count = m, count
        self.at = m.put(np.full(max(count, 1), 99, np.int32))

    def get(self) -> list[int]:
        return [int(x) for x in self.m.get(self.at, np.empty(self.count, np.int32))]


# ---- Cholesky ----


@FEW
@given(types, sizes, sizes, triangles, pads, seeds)
def test_cholesky_and_what_uses_it(dtype: Any, n: int, columns: int, uplo: int, pad: int, seed: int) -> None:
    data = Data(dtype, seed)
    whole, right, ld = data.positive(n), data.dense(n, columns), max(n, 1) + pad
    given = half(whole, uplo)
    with memory() as m:
        info, a = Info(m), m.put_matrix(given, ld)
        b = m.put_matrix(right, ld)
        m.call(name(dtype, "potrf"), uplo, n, a, ld, info.at)
        assert info.get() == [0]
        found = m.get_matrix(a, given, ld)
        factor = triangle(found, uplo)
        product = factor.conj().T @ factor if uplo == UPPER else factor @ factor.conj().T
        close(product, whole, dtype)
        assert (np.diag(factor).real > 0).all() and (np.diag(factor).imag == 0).all()
        assert np.isnan(found[np.isnan(given)]).all()  # the other triangle stays
        m.call(name(dtype, "potrs"), uplo, n, columns, a, ld, b, ld, info.at)
        solved = m.get_matrix(b, right, ld)
        close(solved, lapack.solve(whole, right) if n else right, dtype)
        m.call(name(dtype, "potri"), uplo, n, a, ld, info.at)
        inverse = m.get_matrix(a, given, ld)
        close(triangle(inverse, uplo), triangle(lapack.inv(whole), uplo) if n else whole, dtype)
        assert np.isnan(inverse[np.isnan(given)]).all() and info.get() == [0]


@FEW
@given(types, st.integers(1, 9), st.data(), triangles, seeds)
def test_the_leading_minor_that_is_not_positive_definite(dtype: Any, n: int, draw: Any, uplo: int, seed: int) -> None:
    data = Data(dtype, seed)
    which = draw.draw(st.integers(1, n))
    whole = data.positive(n)
    whole[which - 1, which - 1] = -1
    _, expected = lapack.get_lapack_funcs("potrf", (whole,))(whole, lower=uplo == LOWER)
    with memory() as m:
        info, a = Info(m), m.put_matrix(half(whole, uplo), n)
        m.call(name(dtype, "potrf"), uplo, n, a, n, info.at)
        assert info.get() == [expected] == [which]
        before = triangle(m.get_matrix(a, whole, n), uplo)[: which - 1, : which - 1]
        factor = lapack.cholesky(whole[: which - 1, : which - 1], lower=uplo == LOWER) if which > 1 else before
        close(before, factor, dtype)


def test_a_factor_with_a_zero_has_no_inverse_and_numbers_that_are_none_are_told() -> None:
    with memory() as m:
        info, zero = Info(m), np.diag([2.0, 0, 3])
        a = m.put_matrix(zero, 3)
        m.call("cusolverDnDpotri", LOWER, 3, a, 3, info.at)
        assert info.get() == [2] and (m.get_matrix(a, zero, 3) == zero).all()
        nan = m.put_matrix(np.diag([1, np.nan, 2]), 3)
        m.call("cusolverDnDpotrf", UPPER, 3, nan, 3, info.at)
        assert info.get() == [2]


@FEW
@given(types, st.integers(1, 6), st.integers(0, 4), triangles, pads, seeds)
def test_batches(dtype: Any, n: int, count: int, uplo: int, pad: int, seed: int) -> None:
    data, ld = Data(dtype, seed), n + pad
    wholes, rights = [data.positive(n) for _ in range(count)], [data.dense(n, 1) for _ in range(count)]
    bad = count - 1 if seed % 2 else -1
    if bad >= 0:
        wholes[bad][n - 1, n - 1] = -1
    with memory() as m:
        infos, info = Info(m, count), Info(m)
        a = [m.put_matrix(half(each, uplo), ld) for each in wholes]
        b = [m.put_matrix(each, ld) for each in rights]
        a_at, b_at = m.put(np.array(a, np.uint64)), m.put(np.array(b, np.uint64))
        m.call(name(dtype, "potrfBatched"), uplo, n, a_at, ld, infos.at, count)
        assert infos.get() == [n if i == bad else 0 for i in range(count)]
        m.call(name(dtype, "potrsBatched"), uplo, n, 1, a_at, ld, b_at, ld, info.at, count)
        assert info.get() == [0]
        for i in range(count):
            if i != bad:
                close(m.get_matrix(b[i], rights[i], ld), lapack.solve(wholes[i], rights[i]), dtype)


# ---- LU ----


@FEW
@given(types, sizes, sizes, pads, seeds)
def test_lu(dtype: Any, rows: int, columns: int, pad: int, seed: int) -> None:
    data, ld = Data(dtype, seed), max(rows, 1) + pad
    given, steps = data.dense(rows, columns), min(rows, columns)
    with memory() as m:
        info, a = Info(m), m.put_matrix(given, ld)
        pivots = m.put(np.zeros(max(steps, 1), np.int32))
        m.call(name(dtype, "getrf"), rows, columns, a, ld, pivots, info.at)
        found, exchanged = m.get_matrix(a, given, ld), m.get(pivots, np.empty(steps, np.int32))
        assert info.get() == [0]
        lower, upper = np.tril(found[:, :steps], -1) + np.eye(rows, steps), np.triu(found[:steps])
        permuted = given.copy()
        for k, other in enumerate(exchanged - 1):
            permuted[[k, other]] = permuted[[other, k]]
        close(lower @ upper, permuted, dtype)
        assert (np.abs(lower) <= 1 + 1e-6).all()


@pytest.mark.parametrize("op", [0, 1, 2])
@FEW
@given(dtype=types, n=sizes, columns=sizes, is_pivoted=st.booleans(), pad=pads, seed=seeds)
def test_systems_with_lu(dtype: Any, n: int, columns: int, op: int, is_pivoted: bool, pad: int, seed: int) -> None:
    data, ld = Data(dtype, seed), max(n, 1) + pad
    given = data.regular(n) if is_pivoted else data.positive(n)
    right = data.dense(n, columns)
    with memory() as m:
        info, a, b = Info(m), m.put_matrix(given, ld), m.put_matrix(right, ld)
        pivots = m.put(np.zeros(max(n, 1), np.int32)) if is_pivoted else 0
        m.call(name(dtype, "getrf"), n, n, a, ld, pivots, info.at)
        m.call(name(dtype, "getrs"), op, n, columns, a, ld, pivots, b, ld, info.at)
        assert info.get() == [0]
        expected = lapack.solve([given, given.T, given.conj().T][op], right) if n else right
        close(m.get_matrix(b, right, ld), expected, dtype, 10)


def test_lu_in_blocks_gives_lapacks_factors() -> None:
    given = np.random.default_rng(5).standard_normal((150, 200))
    lu, pivots, _ = lapack.get_lapack_funcs("getrf", (given,))(given)
    with memory() as m:
        info, a, at = Info(m), m.put_matrix(given, 151), m.put(np.zeros(150, np.int32))
        m.call("cusolverDnDgetrf", 150, 200, a, 151, at, info.at)
        np.testing.assert_allclose(m.get_matrix(a, given, 151), lu, rtol=1e-9, atol=1e-11)
        assert (m.get(at, np.empty(150, np.int32)) == pivots + 1).all()


@pytest.mark.parametrize("is_pivoted", [False, True])
def test_the_first_zero_pivot(is_pivoted: bool) -> None:
    singular = np.array([[2.0, 4, 1, 1], [1, 2, 1, 0], [3, 6, 0, 2], [0, 0, 0, 0]])  # the second and the last pivot
    with memory() as m:
        info, a = Info(m), m.put_matrix(singular, 4)
        pivots = m.put(np.zeros(4, np.int32)) if is_pivoted else 0
        m.call("cusolverDnDgetrf", 4, 4, a, 4, pivots, info.at)
        assert info.get() == [2]


def test_pivots_that_lead_out_of_the_matrix_are_told() -> None:
    with memory() as m:
        info, a, b = Info(m), m.put_matrix(np.eye(3), 3), m.put_matrix(np.ones((3, 1)), 3)
        pivots = m.put(np.array([1, 7, 3], np.int32))
        with pytest.raises(MemoryFault, match="devIpiv: number 1 is 7, counted from 1, of 3"):
            m.call("cusolverDnDgetrs", 0, 3, 1, a, 3, pivots, b, 3, info.at)
        batch, rights = m.put(np.array([a], np.uint64)), m.put(np.array([b], np.uint64))
        with pytest.raises(MemoryFault, match="PivotArray, matrix 0: number 1 is 7, counted from 1, of 3"):
            m.call("cublasDgetrsBatched", 0, 3, 1, batch, 3, pivots, rights, 3, 1)


# ---- QR ----


@FEW
@given(types, sizes, sizes, pads, seeds)
def test_qr(dtype: Any, rows: int, columns: int, pad: int, seed: int) -> None:
    data, ld, steps = Data(dtype, seed), max(rows, 1) + pad, min(rows, columns)
    given = data.dense(rows, columns)
    with memory() as m:
        info, a, tau = Info(m), m.put_matrix(given, ld), m.put(np.zeros(max(steps, 1), dtype))
        m.call(name(dtype, "geqrf"), rows, columns, a, ld, tau, info.at)
        upper = np.triu(m.get_matrix(a, given, ld)[:steps])
        if steps:
            factors, taus = lapack.qr(wide(given), mode="raw")[0]
            close(m.get_matrix(a, given, ld), factors, dtype)
            close(m.get(tau, np.empty(steps, dtype)), taus, dtype)
        m.call(name(dtype, "orgqr"), rows, steps, steps, a, ld, tau, info.at)
        assert info.get() == [0]
        q = m.get_matrix(a, given[:, :steps], ld)
        close(q.conj().T @ q, np.eye(steps), dtype)
        close(q @ upper, given, dtype)


@pytest.mark.parametrize("is_inverse", [False, True])
@pytest.mark.parametrize("side", [LEFT, RIGHT])
@FEW
@given(dtype=types, rows=sizes, columns=sizes, draw=st.data(), pad=pads, seed=seeds)
def test_q_times_a_matrix(
    dtype: Any, side: int, is_inverse: bool, rows: int, columns: int, draw: Any, pad: int, seed: int
) -> None:
    data = Data(dtype, seed)
    size = rows if side == LEFT else columns
    k = draw.draw(st.integers(0, size))
    given, c, ld, ldc = data.dense(size, k), data.dense(rows, columns), max(size, 1) + pad, max(rows, 1) + pad
    with memory() as m:
        info, a, tau, at = Info(m), m.put_matrix(given, ld), m.put(np.zeros(max(k, 1), dtype)), m.put_matrix(c, ldc)
        m.call(name(dtype, "geqrf"), size, k, a, ld, tau, info.at)
        m.call(name(dtype, "ormqr"), side, 2 * is_inverse, rows, columns, k, a, ld, tau, at, ldc, info.at)
        q = lapack.qr(wide(given))[0] if k else np.eye(size, dtype=dtype)
        q = q.conj().T if is_inverse else q
        assert info.get() == [0]
        close(m.get_matrix(at, c, ldc), q @ c if side == LEFT else c @ q, dtype)


def test_reflections_in_blocks_and_fewer_than_columns() -> None:
    given = np.random.default_rng(6).standard_normal((170, 150)) + 1j * np.random.default_rng(7).standard_normal(
        (170, 150)
    )
    with memory() as m:
        info, a, tau = Info(m), m.put_matrix(given, 170), m.put(np.zeros(150, np.complex128))
        m.call("cusolverDnZgeqrf", 170, 150, a, 170, tau, info.at)
        m.call("cusolverDnZungqr", 170, 150, 100, a, 170, tau, info.at)
        found = m.get_matrix(a, given, 170)
        expected = lapack.qr(given[:, :100])[0]  # the product of 100 reflections, all of its columns
        close(found, expected[:, :150], np.complex128)


# ---- eigenvalues and singular values ----


@FEW
@given(types, sizes, triangles, st.booleans(), pads, seeds)
def test_eigenvalues(dtype: Any, n: int, uplo: int, job: bool, pad: int, seed: int) -> None:
    data, ld = Data(dtype, seed), max(n, 1) + pad
    whole = data.hermitian(n)
    with memory() as m:
        info, a, w = Info(m), m.put_matrix(half(whole, uplo), ld), m.put(np.zeros(max(n, 1), REAL[dtype]))
        m.call(name(dtype, "syevd"), int(job), uplo, n, a, ld, w, info.at)
        values = m.get(w, np.empty(n, REAL[dtype]))
        assert info.get() == [0]
        close(values, lapack.eigvalsh(whole) if n else values, dtype)
        if job:
            vectors = m.get_matrix(a, whole, ld)
            close(whole @ vectors, vectors * values, dtype)
            close(vectors.conj().T @ vectors, np.eye(n), dtype)


@pytest.mark.parametrize("kind", [1, 2, 3])
@FEW
@given(dtype=types, n=sizes, uplo=triangles, job=st.booleans(), pad=pads, seed=seeds)
def test_generalised_eigenvalues(dtype: Any, kind: int, n: int, uplo: int, job: bool, pad: int, seed: int) -> None:
    data, ld = Data(dtype, seed), max(n, 1) + pad
    whole, other = data.hermitian(n), data.positive(n)
    with memory() as m:
        info, w = Info(m), m.put(np.zeros(max(n, 1), REAL[dtype]))
        a, b = m.put_matrix(half(whole, uplo), ld), m.put_matrix(half(other, uplo), ld)
        m.call(name(dtype, "sygvd"), kind, int(job), uplo, n, a, ld, b, ld, w, info.at)
        values = m.get(w, np.empty(n, REAL[dtype]))
        assert info.get() == [0]
        if n:
            close(values, lapack.eigh(whole, other, type=kind, eigvals_only=True), dtype, 10)
            factor = lapack.cholesky(other, lower=uplo == LOWER)
            close(triangle(m.get_matrix(b, other, ld), uplo), factor, dtype)
        if job:
            x = m.get_matrix(a, whole, ld)
            left, right = [(whole @ x, other @ x), (whole @ other @ x, x), (other @ whole @ x, x)][kind - 1]
            close(left, right * values, dtype, 50)
            middle = other if kind < 3 else lapack.inv(other) if n else other
            close(x.conj().T @ middle @ x, np.eye(n), dtype)


def test_a_second_matrix_that_is_not_positive_definite() -> None:
    with memory() as m:
        info, a, b, w = Info(m), m.put_matrix(np.eye(3), 3), m.put_matrix(np.diag([1.0, -2, 1]), 3), m.put(np.zeros(3))
        m.call("cusolverDnDsygvd", 1, 1, LOWER, 3, a, 3, b, 3, w, info.at)
        assert info.get() == [5]


@pytest.mark.parametrize("jobvt", "ASON")
@pytest.mark.parametrize("jobu", "ASON")
@settings(max_examples=25, deadline=None)
@given(dtype=types, one=sizes, two=sizes, pad=pads, seed=seeds)
def test_singular_values(dtype: Any, jobu: str, jobvt: str, one: int, two: int, pad: int, seed: int) -> None:
    if jobu == jobvt == "O":
        return  # refused by the host
    rows, columns = max(one, two), min(one, two)
    data, ld = Data(dtype, seed), max(rows, 1) + pad
    given = data.dense(rows, columns)
    left_like = np.zeros((rows, rows if jobu == "A" else columns), dtype)
    right_like = np.zeros((columns, columns), dtype)
    ldv = max(columns, 1) + pad
    with memory() as m:
        info, a, s = Info(m), m.put_matrix(given, ld), m.put(np.zeros(max(columns, 1), REAL[dtype]))
        u = m.put_matrix(left_like, ld) if jobu in "AS" else 0
        vt = m.put_matrix(right_like, ldv) if jobvt in "AS" else 0
        m.call(name(dtype, "gesvd"), ord(jobu), ord(jobvt), rows, columns, a, ld, s, u, ld, vt, ldv, info.at)
        values = m.get(s, np.empty(columns, REAL[dtype]))
        assert info.get() == [0]
        if not columns:
            return
        close(values, lapack.svdvals(given), dtype)
        over = m.get_matrix(a, given, ld)
        left = m.get_matrix(u, left_like, ld) if u else over if jobu == "O" else None
        right = m.get_matrix(vt, right_like, ldv) if vt else over[:columns] if jobvt == "O" else None
        if left is not None:
            close(left.conj().T @ left, np.eye(left.shape[1]), dtype)
            first = left[:, :columns]
            close(first.conj().T @ given @ (given.conj().T @ first), np.diag(values**2), dtype, 50)
        if right is not None:
            close(right @ right.conj().T, np.eye(columns), dtype)
            close(right @ (given.conj().T @ given) @ right.conj().T, np.diag(values**2), dtype, 50)
        if left is not None and right is not None:
            close((left[:, :columns] * values) @ right, given, dtype)


# ---- faults, wrong parameters, estimates ----


def test_what_does_not_converge_is_told_and_the_worker_goes_on() -> None:
    with memory() as m:
        info, w = Info(m), m.put(np.zeros(2))
        a = m.put_matrix(np.full((2, 2), np.nan), 2)
        m.call("cusolverDnDgesvd", ord("N"), ord("N"), 2, 2, a, 2, w, 0, 2, 0, 2, info.at)
        assert np.isnan(m.get(w, np.empty(2))).all() and info.get()[0] > 0


def test_wrong_parameters() -> None:
    with memory() as m:
        info = Info(m)
        m.call("cusolverDnWrongParameter", info.at, 4)
        assert info.get() == [-4]


def test_operands_outside_their_buffers() -> None:
    with memory() as m:
        info, small, whole = Info(m), m.put(np.ones(8, np.float32)), m.put_matrix(np.eye(4, dtype=np.float32), 4)
        with pytest.raises(
            MemoryFault, match=r"A, a matrix of 4 x 4 float with leading dimension 4, takes 64 bytes .* 32 too many"
        ):
            m.call("cusolverDnSpotrf", LOWER, 4, small, 4, info.at)
        with pytest.raises(MemoryFault, match="TAU, a vector of 4 float"):
            m.call("cusolverDnSgeqrf", 4, 4, whole, 4, info.at, info.at)
        with pytest.raises(MemoryFault, match="U, a matrix of 4 x 4 float"):
            m.call("cusolverDnSgesvd", ord("S"), ord("N"), 4, 4, whole, 4, small, small, 4, 0, 4, info.at)
        with pytest.raises(MemoryFault, match="devInfo, a vector of 1 int, is null"):
            m.call("cusolverDnSpotrf", LOWER, 4, whole, 4, 0)
        assert (m.get_matrix(whole, np.eye(4, dtype=np.float32), 4) == np.eye(4)).all()  # nothing was computed
        assert info.get() == [99]


def test_work_is_counted() -> None:
    with memory() as m:
        info, a = Info(m), m.put_matrix(np.eye(60), 60)
        call = m.call("cusolverDnDpotrf", LOWER, 60, a, 60, info.at)
        assert call.instructions == {"fp64": 60**3 / 6} and call.time_us > 0
        assert call.reads == [(a, 60 * 60 * 8)] and call.writes == [(a, 60 * 60 * 8), (info.at, 4)]
