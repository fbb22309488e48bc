"""The cheapest ways through several grids at once, row by row."""

from kernelwright.suite.multiversion.nests import Array, Code, Loop, Map, NestedProgram

_STEP = """
int least = cost[c];
if (c > 0 && cost[c - 1] < least)
    least = cost[c - 1];
if (c < columns - 1 && cost[c + 1] < least)
    least = cost[c + 1];
next[c] = wall[(g * rows + r + 1) * columns + c] + least;
"""

PROGRAM = NestedProgram(
    name="pathfinder",
    line="the cheapest ways through grids, row by row",
    parameters=("grids", "rows", "columns"),
    arrays=(
        Array("wall", "grids * rows * columns", "(int)(noise(i) * 10)", "int"),
        Array("cheapest", "grids * columns", type="int"),
    ),
    body=(
        Map(
            "g",
            "grids",
            (
                Map("c", "columns", (Code("cost[c] = wall[g * rows * columns + c];"),)),
                Loop(
                    "r",
                    "rows - 1",
                    (
                        Map("c", "columns", (Code(_STEP),)),
                        Map("c", "columns", (Code("cost[c] = next[c];"),)),
                    ),
                ),
                Map("c", "columns", (Code("cheapest[g * columns + c] = cost[c];"),)),
            ),
            arrays=(("int", "cost", "columns"), ("int", "next", "columns")),
            name="paths",
        ),
    ),
    outputs=("cheapest",),
    datasets=("1 12 4096", "1024 12 8"),
    large=("1 100 100000", "256 100 256"),
    scale="1 grid of 12 x 4096 and 1024 of 12 x 8; Rodinia has 1 of 100 x 100000",
)
