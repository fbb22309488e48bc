"""Headers of libraries have NVIDIA's numbers: they are in its documentation, and programs print and store them."""

from __future__ import annotations

import subprocess

import pytest

from kernelwright.cuda.clang import HEADERS, Clang, find_clang

CUFFT = {
    "CUFFT_FORWARD": -1, "CUFFT_INVERSE": 1,
    "CUFFT_C2C": 0x29, "CUFFT_R2C": 0x2A, "CUFFT_C2R": 0x2C, "CUFFT_Z2Z": 0x69, "CUFFT_D2Z": 0x6A, "CUFFT_Z2D": 0x6C,
    "CUFFT_SUCCESS": 0, "CUFFT_INVALID_PLAN": 1, "CUFFT_ALLOC_FAILED": 2, "CUFFT_INVALID_TYPE": 3, "CUFFT_INVALID_VALUE": 4,
    "CUFFT_INTERNAL_ERROR": 5, "CUFFT_EXEC_FAILED": 6, "CUFFT_SETUP_FAILED": 7, "CUFFT_INVALID_SIZE": 8,
    "CUFFT_UNALIGNED_DATA": 9, "CUFFT_INCOMPLETE_PARAMETER_LIST": 10, "CUFFT_INVALID_DEVICE": 11, "CUFFT_PARSE_ERROR": 12,
    "CUFFT_NO_WORKSPACE": 13, "CUFFT_NOT_IMPLEMENTED": 14, "CUFFT_LICENSE_ERROR": 15, "CUFFT_NOT_SUPPORTED": 16,
    "sizeof(cufftHandle)": 4, "sizeof(cufftDoubleComplex)": 16,
}  # fmt: skip


CUSPARSE = {
    "CUSPARSE_STATUS_SUCCESS": 0, "CUSPARSE_STATUS_NOT_INITIALIZED": 1, "CUSPARSE_STATUS_ALLOC_FAILED": 2,
    "CUSPARSE_STATUS_INVALID_VALUE": 3, "CUSPARSE_STATUS_ARCH_MISMATCH": 4, "CUSPARSE_STATUS_MAPPING_ERROR": 5,
    "CUSPARSE_STATUS_EXECUTION_FAILED": 6, "CUSPARSE_STATUS_INTERNAL_ERROR": 7,
    "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED": 8, "CUSPARSE_STATUS_ZERO_PIVOT": 9, "CUSPARSE_STATUS_NOT_SUPPORTED": 10,
    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES": 11,
    "CUSPARSE_INDEX_16U": 1, "CUSPARSE_INDEX_32I": 2, "CUSPARSE_INDEX_64I": 3, "CUSPARSE_ORDER_COL": 1, "CUSPARSE_ORDER_ROW": 2,
    "CUSPARSE_FORMAT_CSR": 1, "CUSPARSE_FORMAT_CSC": 2, "CUSPARSE_FORMAT_COO": 3, "CUSPARSE_FORMAT_BLOCKED_ELL": 5,
    "CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE": 2, "CUSPARSE_FILL_MODE_UPPER": 1, "CUSPARSE_DIAG_TYPE_UNIT": 1,
    "CUSPARSE_INDEX_BASE_ONE": 1, "CUSPARSE_MATRIX_TYPE_TRIANGULAR": 3, "CUSPARSE_POINTER_MODE_DEVICE": 1,
    "CUSPARSE_ACTION_NUMERIC": 1, "CUSPARSE_DIRECTION_COLUMN": 1, "CUSPARSE_SOLVE_POLICY_USE_LEVEL": 1,
    "CUSPARSE_SPMAT_DIAG_TYPE": 1, "CUSPARSE_CSR2CSC_ALG_DEFAULT": 1, "CUSPARSE_CSR2CSC_ALG1": 1,
    "CUSPARSE_SPMV_ALG_DEFAULT": 0, "CUSPARSE_SPMV_COO_ALG1": 1, "CUSPARSE_SPMV_CSR_ALG1": 2, "CUSPARSE_SPMV_CSR_ALG2": 3,
    "CUSPARSE_SPMV_COO_ALG2": 4, "CUSPARSE_SPMM_COO_ALG4": 5, "CUSPARSE_SPMM_CSR_ALG1": 4, "CUSPARSE_SPMM_CSR_ALG2": 6,
    "CUSPARSE_SPMM_CSR_ALG3": 12, "CUSPARSE_SPGEMM_DEFAULT": 0, "CUSPARSE_SPGEMM_ALG3": 5, "CUSPARSE_SPSV_ALG_DEFAULT": 0,
    "CUSPARSE_SDDMM_ALG_DEFAULT": 0,
}  # fmt: skip

CUSOLVER = {
    "CUSOLVER_STATUS_SUCCESS": 0, "CUSOLVER_STATUS_NOT_INITIALIZED": 1, "CUSOLVER_STATUS_ALLOC_FAILED": 2,
    "CUSOLVER_STATUS_INVALID_VALUE": 3, "CUSOLVER_STATUS_ARCH_MISMATCH": 4, "CUSOLVER_STATUS_MAPPING_ERROR": 5,
    "CUSOLVER_STATUS_EXECUTION_FAILED": 6, "CUSOLVER_STATUS_INTERNAL_ERROR": 7,
    "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED": 8, "CUSOLVER_STATUS_NOT_SUPPORTED": 9, "CUSOLVER_STATUS_ZERO_PIVOT": 10,
    "CUSOLVER_STATUS_INVALID_LICENSE": 11, "CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED": 12,
    "CUSOLVER_STATUS_IRS_INTERNAL_ERROR": 20, "CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED": 25,
    "CUSOLVER_STATUS_IRS_MATRIX_SINGULAR": 30, "CUSOLVER_STATUS_INVALID_WORKSPACE": 31,
    "CUSOLVER_EIG_TYPE_1": 1, "CUSOLVER_EIG_TYPE_2": 2, "CUSOLVER_EIG_TYPE_3": 3,
    "CUSOLVER_EIG_MODE_NOVECTOR": 0, "CUSOLVER_EIG_MODE_VECTOR": 1, "sizeof(cusolver_int_t)": 4,
    "CUBLAS_FILL_MODE_UPPER": 1, "CUBLAS_SIDE_RIGHT": 1, "CUBLAS_OP_C": 2,
}  # fmt: skip

NCCL = {
    "ncclSuccess": 0, "ncclUnhandledCudaError": 1, "ncclSystemError": 2, "ncclInternalError": 3, "ncclInvalidArgument": 4,
    "ncclInvalidUsage": 5, "ncclRemoteError": 6, "ncclInProgress": 7, "ncclNumResults": 8,
    "ncclInt8": 0, "ncclChar": 0, "ncclUint8": 1, "ncclInt32": 2, "ncclInt": 2, "ncclUint32": 3, "ncclInt64": 4,
    "ncclUint64": 5, "ncclFloat16": 6, "ncclHalf": 6, "ncclFloat32": 7, "ncclFloat": 7, "ncclFloat64": 8, "ncclDouble": 8,
    "ncclBfloat16": 9, "ncclFloat8e4m3": 10, "ncclFloat8e5m2": 11, "ncclNumTypes": 12,
    "ncclSum": 0, "ncclProd": 1, "ncclMax": 2, "ncclMin": 3, "ncclAvg": 4, "ncclNumOps": 5, "ncclMaxRedOp": 0x7FFFFFFF,
    "ncclScalarDevice": 0, "ncclScalarHostImmediate": 1, "NCCL_UNIQUE_ID_BYTES": 128, "sizeof(ncclUniqueId)": 128,
    "NCCL_SPLIT_NOCOLOR": -1, "NCCL_VERSION(2, 8, 4)": 2804, "NCCL_VERSION(2, 9, 6)": 20906, "NCCL_VERSION_CODE": 22602,
}  # fmt: skip


@pytest.fixture(scope="module")
def clang() -> Clang:
    return find_clang()


@pytest.mark.parametrize(
    "header, numbers", [("cufftXt.h", CUFFT), ("cusparse.h", CUSPARSE), ("cusolverDn.h", CUSOLVER), ("nccl.h", NCCL)]
)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_numbers(clang: Clang, language: str, header: str, numbers: dict[str, int]) -> None:
    checks = "".join(f'_Static_assert((int)({name}) == {value}, "{name}");\n' for name, value in numbers.items())
    text = f"#include <{header}>\n{checks if language == 'c' else checks.replace('_Static_assert', 'static_assert')}"
    command = [*clang.command, *clang.header_flags, "-isystem", str(HEADERS), "-x", language, "-fsyntax-only", "-Wall", "-Werror", "-"]  # fmt: skip
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
