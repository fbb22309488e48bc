"""cuBLAS's batches, factorisations and types of its own, against NumPy; and operands outside device memory."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.device.libraries.number_types import BF16
from kernelwright.device.libraries.routine_call import MemoryFault

from .routine_calls import Answer, Array, Memory, answer, memory


def put_all(m: Memory, matrices: Array) -> tuple[int, list[int]]:
    at = [m.put_matrix(matrix, matrix.shape[0]) for matrix in matrices]
    return m.put(np.array(at, np.uint64)), at


@pytest.mark.parametrize(
    "letter, dtype", [("S", np.float32), ("D", np.float64), ("H", np.float16), ("Z", np.complex128)]
)
def test_products_of_batches(letter: str, dtype: type) -> None:
    random = np.random.default_rng(1)
    a, b, c = (random.standard_normal((5, *shape)).astype(dtype) for shape in ((3, 4), (4, 2), (3, 2)))
    alpha, beta = dtype(2), dtype(0.5)
    wide = [x.astype(np.complex128 if letter == "Z" else np.float64) for x in (a, b, c)]
    expected = 2 * (wide[0] @ wide[1]) + 0.5 * wide[2]
    tolerance = {"S": 1e-5, "H": 2e-2}.get(letter, 1e-12)
    with memory() as m:
        (pa, _), (pb, _), (pc, at) = put_all(m, a), put_all(m, b), put_all(m, c)
        m.call(f"cublas{letter}gemmBatched", 0, 0, 3, 2, 4, alpha, pa, 3, pb, 4, beta, pc, 3, 5)
        for i in range(5):
            np.testing.assert_allclose(m.get_matrix(at[i], c[i], 3), expected[i], rtol=tolerance, atol=tolerance)
        flat = [m.put(x.swapaxes(1, 2)) for x in (a, b, c)]
        m.call(
            f"cublas{letter}gemmStridedBatched",
            0,
            0,
            3,
            2,
            4,
            alpha,
            flat[0],
            3,
            12,
            flat[1],
            4,
            8,
            beta,
            flat[2],
            3,
            6,
            5,
        )
        found = m.get(flat[2], c.swapaxes(1, 2).copy()).swapaxes(1, 2)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        # One A for all.
        flat[2] = m.put(c.swapaxes(1, 2))
        m.call(
            f"cublas{letter}gemmStridedBatched",
            0,
            0,
            3,
            2,
            4,
            alpha,
            flat[0],
            3,
            0,
            flat[1],
            4,
            8,
            beta,
            flat[2],
            3,
            6,
            5,
        )
        found = m.get(flat[2], c.swapaxes(1, 2).copy()).swapaxes(1, 2)
        np.testing.assert_allclose(found, 2 * (wide[0][0] @ wide[1]) + 0.5 * wide[2], rtol=tolerance, atol=tolerance)


R_32F, R_16F, R_8I, R_32I, R_16BF = 0, 2, 3, 10, 14


def test_products_with_types() -> None:
    random = np.random.default_rng(2)
    a, b = random.standard_normal((8, 8)).astype(np.float16), random.standard_normal((8, 8)).astype(np.float16)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    one, zero = np.float32(1), np.float32(0)
    with memory() as m:
        at, to = (m.put_matrix(a, 8), m.put_matrix(b, 8)), m.put_matrix(np.full((8, 8), np.nan, np.float32), 8)
        m.call("cublasGemmEx", 0, 0, 8, 8, 8, one, at[0], R_16F, 8, at[1], R_16F, 8, zero, to, R_32F, 8, R_32F)
        np.testing.assert_allclose(m.get_matrix(to, np.empty((8, 8), np.float32), 8), exact, rtol=1e-5, atol=1e-5)
        bf = [m.put_matrix(BF16.round(x.astype(np.float32)), 8) for x in (a, b)]
        m.call("cublasGemmEx", 0, 0, 8, 8, 8, one, bf[0], R_16BF, 8, bf[1], R_16BF, 8, zero, to, R_32F, 8, R_32F)
        np.testing.assert_allclose(m.get_matrix(to, np.empty((8, 8), np.float32), 8), exact, rtol=5e-2, atol=5e-2)
        i8 = random.integers(-128, 128, (8, 8)).astype(np.int8)
        at8, to32 = m.put_matrix(i8, 8), m.put_matrix(np.zeros((8, 8), np.int32), 8)
        m.call(
            "cublasGemmEx", 1, 0, 8, 8, 8, np.int32(2), at8, R_8I, 8, at8, R_8I, 8, np.int32(0), to32, R_32I, 8, R_32I
        )
        wide = i8.astype(np.int32)
        assert (m.get_matrix(to32, wide, 8) == 2 * wide.T @ wide).all()
        call = m.call("cublasDotEx", 8, at[0], R_16F, 1, at[0], R_16F, 1, Answer(np.float16(0)), R_16F)
        assert answer(call, np.float16) == pytest.approx(float((a[:, 0].astype(np.float32) ** 2).sum()), rel=1e-2)


@pytest.mark.parametrize("epilogue", [1, 2, 4, 6, 32, 36])
def test_products_with_an_epilogue(epilogue: int) -> None:
    random = np.random.default_rng(5)
    a, b, c = (random.standard_normal((2, *shape)) for shape in ((3, 4), (4, 5), (3, 5)))
    bias = random.standard_normal(3)
    expected = 2 * (a @ b) + 0.5 * c + (bias[:, None] if epilogue & 4 else 0)
    if epilogue & 2:
        expected = np.maximum(expected, 0)
    if epilogue & 32:
        expected = expected / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (expected + 0.044715 * expected**3)))
    with memory() as m:
        at = [m.put(x.swapaxes(1, 2)) for x in (a, b, c, c * np.nan)]
        layouts = [
            word
            for where, rows, size in zip(at, (3, 4, 3, 3), (12, 20, 15, 15), strict=True)
            for word in (where, 1, rows, size)
        ]
        m.call(
            "cublasLtMatmul", 0, 0, 3, 5, 4, np.float64(2), np.float64(0.5), 1, *layouts, 2, epilogue, m.put(bias), 1
        )
        found = m.get(at[3], c.swapaxes(1, 2).copy()).swapaxes(1, 2)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_products_of_whole_numbers_with_layouts() -> None:
    a = np.random.default_rng(6).integers(-128, 128, (4, 4)).astype(np.int8)
    with memory() as m:
        at, to = m.put_matrix(a, 4), m.put_matrix(np.full((4, 4), 9, np.int32), 4)
        layouts = [at, R_8I, 4, 0, at, R_8I, 4, 0, to, R_32I, 4, 0, to, R_32I, 4, 0]
        m.call("cublasLtMatmul", 1, 0, 4, 4, 4, np.int32(3), np.int32(0), R_32I, *layouts, 1, 1, 0, R_32I)
        wide = a.astype(np.int32)
        assert (m.get_matrix(to, wide, 4) == 3 * wide.T @ wide).all()


def test_bfloat16_rounds_to_even() -> None:
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-9, np.inf, 3.4e38, 0.0], np.float32)
    rounded = BF16.load(BF16.round(values))
    assert rounded.tolist() == [1.0, 1.0, 1 + 2**-6, -1.0, np.inf, np.inf, 0.0]
    assert np.isnan(BF16.load(BF16.round(np.array([np.nan], np.float32))))[0]


@pytest.mark.parametrize("letter, dtype", [("D", np.float64), ("Z", np.complex128)])
def test_factorisations(letter: str, dtype: type) -> None:
    random = np.random.default_rng(3)
    a, b = random.standard_normal((4, 5, 5)).astype(dtype), random.standard_normal((4, 5, 2)).astype(dtype)
    if letter == "Z":
        a = a + 1j * random.standard_normal(a.shape)
    a[2, :, 1] = 0  # singular
    a[0, 0, 0] = 0  # wants a pivot
    with memory() as m:
        (pa, at), (pb, bt) = put_all(m, a), put_all(m, b)
        pivots, info = m.put(np.zeros((4, 5), np.int32)), m.put(np.full(4, 9, np.int32))
        m.call(f"cublas{letter}getrfBatched", 5, pa, 5, pivots, info, 4)
        assert m.get(info, np.empty(4, np.int32)).tolist() == [0, 0, 2, 0]
        (pc, ct) = put_all(m, np.zeros_like(a))
        m.call(f"cublas{letter}getriBatched", 5, pa, 5, pivots, pc, 5, info, 4)
        m.call(f"cublas{letter}getrsBatched", 0, 5, 2, pa, 5, pivots, pb, 5, 4)
        for i in (0, 1, 3):
            lu = m.get_matrix(at[i], a[i], 5)
            order = np.arange(5)
            for k, swap in enumerate(m.get(pivots, np.empty((4, 5), np.int32))[i] - 1):
                order[[k, swap]] = order[[swap, k]]
            np.testing.assert_allclose((np.tril(lu, -1) + np.eye(5)) @ np.triu(lu), a[i][order], atol=1e-12)
            np.testing.assert_allclose(m.get_matrix(ct[i], a[i], 5) @ a[i], np.eye(5), atol=1e-9)
            np.testing.assert_allclose(a[i] @ m.get_matrix(bt[i], b[i], 5), b[i], atol=1e-9)
        (pb, bt) = put_all(m, b)
        m.call(f"cublas{letter}getrsBatched", 2, 5, 2, pa, 5, pivots, pb, 5, 4)
        np.testing.assert_allclose(a[1].conj().T @ m.get_matrix(bt[1], b[1], 5), b[1], atol=1e-9)


def test_least_squares() -> None:
    random = np.random.default_rng(4)
    a, b = random.standard_normal((3, 6, 4)), random.standard_normal((3, 6, 2))
    with memory() as m:
        (pa, at), (pb, bt) = put_all(m, a), put_all(m, b)
        info = m.put(np.full(3, 9, np.int32))
        m.call("cublasDgelsBatched", 0, 6, 4, 2, pa, 6, pb, 6, info, 3)
        assert m.get(info, np.empty(3, np.int32)).tolist() == [0, 0, 0]
        for i in range(3):
            expected = np.linalg.lstsq(a[i], b[i], rcond=None)[0]
            np.testing.assert_allclose(m.get_matrix(bt[i], b[i], 6)[:4], expected, atol=1e-12)
            r = np.triu(m.get_matrix(at[i], a[i], 6)[:4])
            np.testing.assert_allclose(r.T @ r, a[i].T @ a[i], atol=1e-12)


# ---- operands outside device memory ----


@pytest.mark.parametrize(
    ("ld", "offset", "kind", "told"),
    [
        (
            5,
            0,
            "out-of-bounds",
            r"^A, a matrix of 4 x 4 double with leading dimension 5, takes 152 bytes at offset 0 .* has 128: 24 too many",
        ),
        (4, 8, "out-of-bounds", r"takes 128 bytes at offset 8 of 'operand', which has 128: 8 too many"),
        (4, 4, "misaligned", r"not a multiple of 8"),
        (4, 1 << 20, "out-of-bounds", r"lies in no device memory"),
    ],
)
def test_faults(ld: int, offset: int, kind: str, told: str) -> None:
    with memory() as m:
        a, c = m.put(np.zeros((4, 4))), m.put(np.full((4, 4), 7.0))
        with pytest.raises(MemoryFault, match=told) as fault:
            m.call("cublasDgemm_v2", 0, 0, 4, 4, 4, np.float64(1), a + offset, ld, a, 4, np.float64(0), c, 4)
        assert fault.value.kind == kind
        assert (m.get(c, np.empty((4, 4))) == 7).all()


def test_null_and_freed_memory() -> None:
    with memory() as m:
        x, y = m.put(np.zeros(4)), m.put(np.zeros(4))
        m.arena.free(x)
        with pytest.raises(MemoryFault, match=r"x, a vector of 4 double, at .* lies in 'operand', which was freed"):
            m.call("cublasDcopy_v2", 4, x, 1, y, 1)
        with pytest.raises(MemoryFault, match="is null"):
            m.call("cublasDcopy_v2", 4, 0, 1, y, 1)
