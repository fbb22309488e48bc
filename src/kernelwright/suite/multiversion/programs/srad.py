"""Speckle-reducing anisotropic diffusion of several images at once."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram

_FUNCTIONS = """
/* The pixel above, below, left and right of pixel p; itself at the border. */
static __device__ int up(int p, int columns) { return p < columns ? p : p - columns; }
static __device__ int down(int p, int rows, int columns) { return p >= (rows - 1) * columns ? p : p + columns; }
static __device__ int left(int p, int columns) { return p % columns == 0 ? p : p - 1; }
static __device__ int right(int p, int columns) { return p % columns == columns - 1 ? p : p + 1; }
"""
_SPREAD = """
float mean = sum / (rows * columns);
spread = (squares / (rows * columns) - mean * mean) / (mean * mean);
"""
_COEFFICIENT = """
const float *own = image + b * rows * columns;
float here = own[p];
float n = own[up(p, columns)] - here, s = own[down(p, rows, columns)] - here;
float w = own[left(p, columns)] - here, e = own[right(p, columns)] - here;
float gradient = (n * n + s * s + w * w + e * e) / (here * here), laplacian = (n + s + w + e) / here;
float half_way = 1 + 0.25f * laplacian;
float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (half_way * half_way);
float c = 1 / (1 + (q - spread) / (spread * (1 + spread)));
coefficient[b * rows * columns + p] = c < 0 ? 0 : c > 1 ? 1 : c;
"""
_DIFFUSED = """
const float *own = image + b * rows * columns, *c = coefficient + b * rows * columns;
float here = own[p];
float flow = c[p] * (own[up(p, columns)] - here) + c[down(p, rows, columns)] * (own[down(p, rows, columns)] - here)
    + c[p] * (own[left(p, columns)] - here) + c[right(p, columns)] * (own[right(p, columns)] - here);
next[b * rows * columns + p] = here + 0.125f * flow;
"""

PROGRAM = NestedProgram(
    name="srad",
    line="anisotropic diffusion of several images",
    parameters=("images", "rows", "columns", "iterations"),
    arrays=(
        Array("image", "images * rows * columns", "0.5f + noise(i)"),
        Array("coefficient", "images * rows * columns"),
        Array("next", "images * rows * columns"),
    ),
    body=(
        Map(
            "b",
            "images",
            (
                Loop(
                    "t",
                    "iterations",
                    (
                        Fold("sum", "p", "rows * columns", "image[b * rows * columns + p]"),
                        Fold(
                            "squares",
                            "p",
                            "rows * columns",
                            "image[b * rows * columns + p] * image[b * rows * columns + p]",
                        ),
                        Code(_SPREAD),
                        Map("p", "rows * columns", (Code(_COEFFICIENT),)),
                        Map("p", "rows * columns", (Code(_DIFFUSED),)),
                        Map(
                            "p",
                            "rows * columns",
                            (Code("image[b * rows * columns + p] = next[b * rows * columns + p];"),),
                        ),
                    ),
                ),
            ),
            scalars=(("float", "sum"), ("float", "squares"), ("float", "spread")),
            name="diffuse",
        ),
    ),
    outputs=("image",),
    datasets=("1 64 64 2", "256 8 8 2"),
    large=("1 502 458 2", "1024 16 16 2"),
    scale="1 image of 64 x 64 and 256 of 8 x 8; the paper has 1 of 502 x 458 and 1024 of 16 x 16",
    functions=_FUNCTIONS,
)
