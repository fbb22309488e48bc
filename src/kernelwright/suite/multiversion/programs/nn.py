"""The nearest points to each of several queries, one after the other."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram

_FUNCTIONS = """
struct Near {
    float distance;
    int point;
};
static __device__ Near near(float distance, int point)
{
    Near made = {distance, point};
    return made;
}
static __device__ Near nearer(Near a, Near b)
{
    return b.distance < a.distance || (b.distance == a.distance && b.point < a.point) ? b : a;
}
"""
_DISTANCE = """
float dx = x[p] - noise_x[q], dy = y[p] - noise_y[q];
apart[p] = sqrtf(dx * dx + dy * dy);
"""
_FOUND = """
found[q * nearest + k] = best.point;
distance[q * nearest + k] = best.distance;
apart[best.point] = 1e30f;
"""

PROGRAM = NestedProgram(
    name="nn",
    line="the nearest points to each query",
    parameters=("queries", "points", "nearest"),
    arrays=(
        Array("x", "points", "noise(2 * i)"),
        Array("y", "points", "noise(3 * i + 1)"),
        Array("noise_x", "queries", "noise(5 * i + 2)"),
        Array("noise_y", "queries", "noise(7 * i + 3)"),
        Array("found", "queries * nearest", type="int"),
        Array("distance", "queries * nearest"),
    ),
    body=(
        Map(
            "q",
            "queries",
            (
                Map("p", "points", (Code(_DISTANCE),)),
                Loop(
                    "k",
                    "nearest",
                    (
                        Fold("best", "p", "points", "near(apart[p], p)", "nearer", "near(2e30f, 0)", "Near"),
                        Code(_FOUND),
                    ),
                ),
            ),
            scalars=(("Near", "best"),),
            arrays=(("float", "apart", "points"),),
            name="search",
        ),
    ),
    outputs=("found", "distance"),
    datasets=("1 16384 4", "1024 16 4"),
    large=("1 855280 4", "4096 128 4"),
    scale="1 query of 16384 points and 1024 of 16; the paper has 1 of 855280 and 4096 of 128",
    functions=_FUNCTIONS,
)
