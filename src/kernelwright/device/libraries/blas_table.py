"""The routines of cuBLAS by their public names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.device.libraries import (
    batched_systems,
    blas_matrix,
    blas_matrix_vector,
    blas_vectors,
    product_with_epilogue,
)
from kernelwright.device.libraries.number_types import BY_LETTER, C64, C128, F32, NumberType

Routine = Callable[..., None]

# Of every type: the end of the name, behind the letter of the type.
_OF_EVERY_TYPE: dict[str, Routine] = {
    "axpy": blas_vectors.axpy,
    "scal": blas_vectors.scal,
    "copy": blas_vectors.copy,
    "swap": blas_vectors.swap,
    "gemv": blas_matrix_vector.gemv,
    "symv": blas_matrix_vector.symv,
    "syr": blas_matrix_vector.syr,
    "syr2": blas_matrix_vector.syr2,
    "trmv": blas_matrix_vector.trmv,
    "trsv": blas_matrix_vector.trsv,
    "symm": blas_matrix.symm,
    "syrk": blas_matrix.syrk,
    "syrkx": blas_matrix.syrkx,
    "syr2k": blas_matrix.syr2k,
    "trmm": blas_matrix.trmm,
    "trsm": blas_matrix.trsm,
    "trsmBatched": blas_matrix.trsm_batched,
    "geam": blas_matrix.geam,
    "dgmm": blas_matrix.dgmm,
    "getrfBatched": batched_systems.getrf,
    "getriBatched": batched_systems.getri,
    "getrsBatched": batched_systems.getrs,
    "gelsBatched": batched_systems.gels,
}
_PRODUCTS: dict[str, Routine] = {
    "gemm": blas_matrix.gemm,
    "gemmBatched": blas_matrix.gemm_batched,
    "gemmStridedBatched": blas_matrix.gemm_strided_batched,
}
_OF_REALS: dict[str, Routine] = {
    "dot": blas_vectors.dot,
    "nrm2": blas_vectors.nrm2,
    "asum": blas_vectors.asum,
    "rot": blas_vectors.rot,
    "rotg": blas_vectors.rotg,
    "rotm": blas_vectors.rotm,
    "ger": blas_matrix_vector.ger,
}
_OF_COMPLEX: dict[str, Routine] = {
    "dotu": blas_vectors.dot,
    "dotc": blas_vectors.dotc,
    "geru": blas_matrix_vector.ger,
    "gerc": blas_matrix_vector.ger,
    "hemv": blas_matrix_vector.symv,
    "her": blas_matrix_vector.syr,
    "her2": blas_matrix_vector.syr2,
    "hemm": blas_matrix.symm,
    "herk": blas_matrix.syrk,
    "her2k": blas_matrix.syr2k,
}
_TYPED: dict[str, Routine] = {
    "AxpyEx": blas_vectors.axpy_ex,
    "ScalEx": blas_vectors.scal_ex,
    "DotEx": blas_vectors.dot_ex,
    "DotcEx": blas_vectors.dot_ex,
    "Nrm2Ex": blas_vectors.nrm2_ex,
    "GemmEx": blas_matrix.gemm_ex,
    "GemmBatchedEx": blas_matrix.gemm_batched_ex,
    "GemmStridedBatchedEx": blas_matrix.gemm_strided_batched_ex,
    "LtMatmul": product_with_epilogue.matmul,
}
_IRREGULAR: dict[str, tuple[Routine, NumberType]] = {
    "Scnrm2": (blas_vectors.nrm2, C64),
    "Dznrm2": (blas_vectors.nrm2, C128),
    "Scasum": (blas_vectors.asum, C64),
    "Dzasum": (blas_vectors.asum, C128),
    "Csscal": (blas_vectors.real_scal, C64),
    "Zdscal": (blas_vectors.real_scal, C128),
}


def _all_routines() -> dict[str, tuple[Routine, NumberType]]:
    found: dict[str, tuple[Routine, NumberType]] = {f"cublas{name}": row for name, row in _IRREGULAR.items()}
    for letters, rows in (("SDCZ", _OF_EVERY_TYPE), ("SDCZH", _PRODUCTS), ("SD", _OF_REALS), ("CZ", _OF_COMPLEX)):
        for letter in letters:
            found |= {f"cublas{letter}{end}": (run, BY_LETTER[letter]) for end, run in rows.items()}
    for letter in "SDCZ":
        found[f"cublasI{letter.lower()}amax"] = (blas_vectors.amax, BY_LETTER[letter])
        found[f"cublasI{letter.lower()}amin"] = (blas_vectors.amin, BY_LETTER[letter])
    return found | {f"cublas{name}": (run, F32) for name, run in _TYPED.items()}


BLAS_ROUTINES: dict[str, tuple[Any, NumberType]] = _all_routines()
"""By public name: what it does, and the type of its numbers (those with ``Ex`` are told it)."""
