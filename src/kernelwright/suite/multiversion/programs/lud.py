"""LU decomposition in place, without pivoting, a block of columns at a time: what is left of the matrix shrinks, so that the sizes vary
within a run."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram

_FUNCTIONS = """
/* Where row r and column c lie, counted from the corner of block k on the diagonal. */
static __device__ int at(int r, int c, int k, int n, int block) { return (k * block + r) * n + k * block + c; }
"""
_SCALE = """
if (r > j)
    matrix[at(r, j, k, n, block)] /= matrix[at(j, j, k, n, block)];
"""
_SUBTRACT = """
int r = e / block, c = e % block;
if (r > j && c > j)
    matrix[at(r, c, k, n, block)] -= matrix[at(r, j, k, n, block)] * matrix[at(j, c, k, n, block)];
"""
_LEFT = "n - (k + 1) * block"
"""Rows and columns behind block k."""

_DIAGONAL = Map(
    "one",
    "1",
    (Loop("j", "block", (Map("r", "block", (Code(_SCALE),)), Map("e", "block * block", (Code(_SUBTRACT),)))),),
    name="diagonal",
)
_RIGHT = Map(
    "c",
    _LEFT,
    (
        Loop(
            "r",
            "block",
            (
                Fold(
                    "above",
                    "l",
                    "block",
                    "l < r ? matrix[at(r, l, k, n, block)] * matrix[at(l, block + c, k, n, block)] : 0",
                ),
                Code("matrix[at(r, block + c, k, n, block)] -= above;"),
            ),
        ),
    ),
    scalars=(("float", "above"),),
    name="right",
)
_DIVIDED = """
float *here = matrix + at(block + r, c, k, n, block);
*here = (*here - before) / matrix[at(c, c, k, n, block)];
"""
_BELOW = Map(
    "r",
    _LEFT,
    (
        Loop(
            "c",
            "block",
            (
                Fold(
                    "before",
                    "l",
                    "block",
                    "l < c ? matrix[at(block + r, l, k, n, block)] * matrix[at(l, c, k, n, block)] : 0",
                ),
                Code(_DIVIDED),
            ),
        ),
    ),
    scalars=(("float", "before"),),
    name="below",
)
_INSIDE = Map(
    "r",
    _LEFT,
    (
        Map(
            "c",
            _LEFT,
            (
                Fold(
                    "product",
                    "l",
                    "block",
                    "matrix[at(block + r, l, k, n, block)] * matrix[at(l, block + c, k, n, block)]",
                ),
                Code("matrix[at(block + r, block + c, k, n, block)] -= product;"),
            ),
            scalars=(("float", "product"),),
            name="elements",
        ),
    ),
    name="inside",
)

PROGRAM = NestedProgram(
    name="lud",
    line="LU decomposition of an N x N matrix, BLOCK columns at a time",
    parameters=("n", "block"),
    arrays=(Array("matrix", "n * n", "noise(i) + (i / n == i % n ? n : 0)"),),
    body=(Loop("k", "n / block", (_DIAGONAL, Loop("rest", "(k + 1 < n / block ? 1 : 0)", (_RIGHT, _BELOW, _INSIDE)))),),
    outputs=("matrix",),
    datasets=("32 8", "64 16"),
    large=("64 16", "256 16"),
    scale="matrices of 32 and 64 rows, in blocks of 8 and 16; Rodinia's have 64 to 2048, in blocks of 16",
    functions=_FUNCTIONS,
)
