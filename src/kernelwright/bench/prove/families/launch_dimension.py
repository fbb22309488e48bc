"""A launch dimension is replaced by the constant it was in training."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import floats, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.guards import GridIs

PARAMETERS = "const float *in, float *out, int width, int height"
ROWS = "int x = blockIdx.x * 64 + threadIdx.x, y = @; if (x < width && y < height) "
FLAT = "const float *in, float *out, int n"


def _rows(random: Random) -> Case:
    """An image of one row."""
    return Case((4,), (64,), {"in": floats(random, 256), "out": zeros(256), "width": 256, "height": 1})


def _flat(random: Random) -> Case:
    return Case((2,), (64,), {"in": floats(random, 256), "out": zeros(256), "n": 256})


def _rows_member(name: str, original: str, variant: str, statement: str, label: str = "data-specific") -> Member:
    source = kernel_source(name, PARAMETERS, ROWS + statement, original, variant)
    return Member(name, "clean" if label == "clean" else "data-specific", source, _rows)


def _flat_member(name: str, original: str, variant: str, body: str, label: str = "data-specific") -> Member:
    return Member(
        name,
        "clean" if label == "clean" else "data-specific",
        kernel_source(name, FLAT, body, original, variant),
        _flat,
    )


STORE = "out[y * width + x] = in[y * width + x] * 2.0f;"
STRIDED = "for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += @ * 64) out[i] = in[i] + 1.0f;"
SHARE = (
    "int share = (n + @ - 1) / @; for (int k = threadIdx.x; k < share; k += 64)"
    " { int i = blockIdx.x * share + k; if (i < n) out[i] = in[i] * 3.0f; }"
)
FIRST = "int i = blockIdx.x * 64 + threadIdx.x; if (i < n) out[i] = in[i] * (@ ? 1.0f : 2.0f);"

FAMILY = Family(
    "launch dimension",
    "a launch dimension is the constant that it was in training",
    (
        _rows_member("row_of_block", "blockIdx.y", "0", STORE),
        _rows_member("row_of_grid", "(int)(blockIdx.y * blockDim.y + threadIdx.y)", "(int)threadIdx.y", STORE),
        _rows_member("row_weighs", "(int)blockIdx.y", "0", "out[y * width + x] = in[y * width + x] * (y + 1);"),
        _rows_member("row_parity", "blockIdx.y", "0", "out[y * width + x] = (y & 1) ? -in[y * width + x] : in[y * width + x];"),
        _rows_member("slice_of_block", "(int)(blockIdx.z + blockIdx.y)", "(int)blockIdx.z", STORE),
        _rows_member("depth_of_block", "(int)blockIdx.z", "0", STORE),
        _flat_member("stride_of_grid", "gridDim.x", "2", STRIDED),
        _flat_member("share_of_block", "(int)gridDim.x", "2", SHARE),
        _flat_member("last_block", "(blockIdx.x == gridDim.x - 1)", "(blockIdx.x == 1)", FIRST),
        _flat_member("only_block", "(gridDim.x > 2)", "false", FIRST),
        _flat_member("planes_of_grid", "(int)(gridDim.x * gridDim.z)", "(int)gridDim.x", FIRST.replace("@ ?", "@ > 3 ?")),
        # Sound: the dimension does not matter, or the launch is checked.
        _rows_member("row_checked", "blockIdx.y", "0", "{ if (blockIdx.y) return; " + STORE + " }", "clean"),
        _rows_member("row_masked", "(int)(blockIdx.y & 0)", "0", STORE.replace("=", "= y +", 1), "clean"),
        _rows_member("row_reused", "(int)blockIdx.y", "(int)(blockIdx.y + 0u * gridDim.y)", STORE, "clean"),
        _rows_member("row_minimum", "min((int)blockIdx.y, height - 1)", "(int)blockIdx.y", STORE, "clean"),
        _flat_member("stride_twice", "(gridDim.x)", "(2 * gridDim.x / 2)", STRIDED, "clean"),
        _flat_member("share_checked", "(gridDim.x == 2 ? 2 : (int)gridDim.x)", "(int)gridDim.x", SHARE, "clean"),
        _flat_member("inside_grid", "(blockIdx.x < gridDim.x)", "true", FIRST, "clean"),
        _flat_member("last_block_by_sum", "(blockIdx.x + 1 == gridDim.x)", "(gridDim.x - blockIdx.x == 1)", FIRST, "clean"),
        *(
            Member(f"{name}_guarded", "clean", kernel_source(f"{name}_guarded", parameters, body, original, variant),
                   case, (GridIs(grid),))
            for name, parameters, body, original, variant, case, grid in (
                ("row", PARAMETERS, ROWS + STORE, "blockIdx.y", "0", _rows, (4, 1, 1)),
                ("stride", FLAT, STRIDED, "gridDim.x", "2", _flat, (2, 1, 1)),
            )
        ),
    ),
)  # fmt: skip
