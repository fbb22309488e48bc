"""Breaks in time series of many pixels, after BFAST: what a season and a trend, fitted to the history, miss after it."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram, Scan

_FUNCTIONS = """
static __device__ float larger_of(float a, float b) { return a > b ? a : b; }
"""
_ELIMINATE = """
int r = e / 5, c = e % 5;
float pivot = system[k * 5 + k], above = system[k * 5 + c];
eliminated[e] = r == k ? above / pivot : system[e] - system[r * 5 + k] * above / pivot;
"""
_BASIS = (
    "i / dates == 0 ? 1 : i / dates == 1 ? (float)(i % dates) / dates : i / dates == 2 ? sinf(0.4f * (i % dates)) : "
    "cosf(0.4f * (i % dates))"
)
_SERIES = (
    "i % 11 == 3 ? -1 : 1 + noise(i) + 0.5f * sinf(0.4f * (i % dates)) + "
    "(i % dates > 3 * dates / 4 && i / dates % 2 ? 1 : 0)"
)

PROGRAM = NestedProgram(
    name="bfast",
    line="breaks in time series of many pixels, some of their values missing (-1)",
    parameters=("pixels", "dates"),
    arrays=(
        Array("basis", "4 * dates", _BASIS),
        Array("series", "pixels * dates", _SERIES),
        Array("break_size", "pixels"),
    ),
    body=(
        Map(
            "p",
            "pixels",
            (
                Map(
                    "e",
                    "20",
                    (
                        Fold(
                            "product",
                            "d",
                            "dates / 2",
                            "series[p * dates + d] < 0 ? 0 : basis[e / 5 * dates + d] * "
                            "(e % 5 < 4 ? basis[e % 5 * dates + d] : series[p * dates + d])",
                        ),
                        Code("system[e] = product;"),
                    ),
                    scalars=(("float", "product"),),
                    name="products",
                ),
                Loop(
                    "k",
                    "4",
                    (
                        Map("e", "20", (Code(_ELIMINATE),)),
                        Map("e", "20", (Code("system[e] = eliminated[e];"),)),
                    ),
                ),
                Map(
                    "d",
                    "dates",
                    (
                        Fold("fitted", "k", "4", "system[k * 5 + 4] * basis[k * dates + d]"),
                        Code("missed[d] = series[p * dates + d] < 0 ? 0 : series[p * dates + d] - fitted;"),
                    ),
                    scalars=(("float", "fitted"),),
                    name="residuals",
                ),
                Fold("squares", "d", "dates / 2", "missed[d] * missed[d]"),
                Scan("d", "dates", "missed[d]"),
                Fold(
                    "largest",
                    "d",
                    "dates / 2",
                    "fabsf(missed[d + dates / 2] - missed[d + dates / 4])",
                    "larger_of",
                ),
                Code("break_size[p] = largest / sqrtf(squares);"),
            ),
            scalars=(("float", "squares"), ("float", "largest")),
            arrays=(("float", "system", "20"), ("float", "eliminated", "20"), ("float", "missed", "dates")),
            name="pixels",
        ),
    ),
    outputs=("break_size",),
    datasets=("1024 32", "8 512"),
    large=("16384 256", "512 1024"),
    scale="1024 pixels of 32 dates and 8 of 512; the paper's have 10^5 and more",
    functions=_FUNCTIONS,
)
