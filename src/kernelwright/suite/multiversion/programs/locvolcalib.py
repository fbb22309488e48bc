"""Local-volatility calibration: for each option a grid goes back in time, with implicit steps along both axes.

Tridiagonal systems are solved by three prefixes: of Moebius maps for the elimination, and of affine maps forth and back.
"""

from kernelwright.suite.multiversion.nests import Array, Code, Loop, Map, NestedProgram, Scan, Statement

_FUNCTIONS = """
/* c -> (a c + b) / (d c + e), and x -> slope x + offset; `then` is the one after the other. */
struct Moebius {
    float a, b, d, e;
};
struct Affine {
    float slope, offset;
};
static __device__ Moebius then(Moebius f, Moebius g)
{
    Moebius both = {g.a * f.a + g.b * f.d, g.a * f.b + g.b * f.e, g.d * f.a + g.e * f.d, g.d * f.b + g.e * f.e};
    float scale = 1 / both.e; /* they stay in range */
    Moebius scaled = {both.a * scale, both.b * scale, both.d * scale, 1};
    return scaled;
}
static __device__ float at_zero(Moebius f) { return f.b / f.e; }
static __device__ Affine then_affine(Affine f, Affine g)
{
    Affine both = {g.slope * f.slope, g.slope * f.offset + g.offset};
    return both;
}
/* Half the variance of place k of n at step t, by the squares of the grid's steps. */
static __device__ float weight(int k, int n, int t) { return 0.2f + 0.1f * k / n + 0.05f * t; }
"""


def _cell(other: str, here: str, along_x: bool) -> str:
    return f"(o * ny + {other}) * nx + {here}" if along_x else f"(o * ny + {here}) * nx + {other}"


def _implicit(along_x: bool) -> Map:
    """The tridiagonal systems (-w, 1 + 2w, -w) along one axis, one for each place of the other."""
    k, other, n, size = ("x", "y", "nx", "ny") if along_x else ("y", "x", "ny", "nx")
    here, before = _cell(other, k, along_x), _cell(other, f"({k} - 1)", along_x)
    back = _cell(other, f"({n} - 1 - {k})", along_x)
    eliminate = f"""
float w = weight({k}, {n}, t);
Moebius step = {{0, -w, w, 1 + 2 * w}};
elimination[{here}] = step;
"""
    forth = f"""
float w = weight({k}, {n}, t), c = {k} > 0 ? at_zero(elimination[{before}]) : 0;
float pivot = 1 + 2 * w + w * c;
Affine step = {{{k} > 0 ? w / pivot : 0, right[{here}] / pivot}};
line[{here}] = step;
"""
    backward = f"""
Affine step = {{{k} < {n} - 1 ? -at_zero(elimination[{here}]) : 0, line[{here}].offset}};
solution[{here}] = step;
"""
    body: tuple[Statement, ...] = (
        Map(k, n, (Code(eliminate),)),
        Scan(k, n, f"elimination[{here}]", "then", "Moebius"),
        Map(k, n, (Code(forth),)),
        Scan(k, n, f"line[{here}]", "then_affine", "Affine"),
        Map(k, n, (Code(backward),)),
        Scan(k, n, f"solution[{back}]", "then_affine", "Affine"),
        Map(k, n, (Code(f"right[{here}] = solution[{here}].offset;"),)),
    )
    return Map(other, size, body, name=f"along_{k}")


_EXPLICIT = """
int c = (o * ny + cell / nx) * nx + cell % nx;
right[c] = value[c] + 0.01f * (cell % nx) * t;
"""

PROGRAM = NestedProgram(
    name="locvolcalib",
    line="grids of option values, back in time by implicit steps along both axes",
    parameters=("options", "nx", "ny", "steps"),
    arrays=(
        Array("value", "options * ny * nx", "noise(i) + i / (nx * ny) * 0.1f"),
        Array("right", "options * ny * nx"),
        Array("elimination", "options * ny * nx", "Moebius()", "Moebius"),
        Array("line", "options * ny * nx", "Affine()", "Affine"),
        Array("solution", "options * ny * nx", "Affine()", "Affine"),
    ),
    body=(
        Map(
            "o",
            "options",
            (
                Loop(
                    "t",
                    "steps",
                    (
                        Map("cell", "ny * nx", (Code(_EXPLICIT),)),
                        _implicit(along_x=True),
                        _implicit(along_x=False),
                        Map(
                            "cell",
                            "ny * nx",
                            (Code("value[o * ny * nx + cell] = right[o * ny * nx + cell];"),),
                        ),
                    ),
                ),
            ),
            name="options",
        ),
    ),
    outputs=("value",),
    datasets=("2 32 32 2", "256 4 8 2"),
    large=("16 32 256 2", "128 32 256 2"),
    scale="2 options on grids of 32 x 32 and 256 on 4 x 8; FinPar has 16 on 32 x 256 and 256 on 256 x 256",
    functions=_FUNCTIONS,
)
