"""LU decomposition in place, without pivoting: what is left of the matrix shrinks, so that the sizes vary within a run."""

from kernelwright.suite.multiversion.nests import Array, Code, Loop, Map, NestedProgram

_FACTOR = """
factor = matrix[(k + 1 + i) * n + k] / matrix[k * n + k];
matrix[(k + 1 + i) * n + k] = factor;
"""
_UPDATE = "matrix[(k + 1 + i) * n + k + 1 + j] -= factor * matrix[k * n + k + 1 + j];"

PROGRAM = NestedProgram(
    name="lud",
    line="LU decomposition of an N x N matrix, a column at a time",
    parameters=("n",),
    arrays=(Array("matrix", "n * n", "noise(i) + (i / n == i % n ? n : 0)"),),
    body=(
        Loop(
            "k",
            "n - 1",
            (
                Map(
                    "i",
                    "n - k - 1",
                    (Code(_FACTOR), Map("j", "n - k - 1", (Code(_UPDATE),))),
                    scalars=(("float", "factor"),),
                    name="eliminate",
                ),
            ),
        ),
    ),
    outputs=("matrix",),
    datasets=("24", "72"),
    large=("64", "256"),
    scale="matrices of 24 and 72 rows; Rodinia's have 64 to 2048",
)
