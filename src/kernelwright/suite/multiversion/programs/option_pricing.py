"""The price of an option on an average, from simulated paths: increments, their prefix sums, an average, a discount."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Map, NestedProgram, Scan

_FUNCTIONS = """
/* A number from a normal distribution, another for each i (Box and Muller). */
static __device__ float normal(unsigned i)
{
    float u = ((i * 2654435761u >> 8) + 0.5f) / 16777216.0f, v = (i * 2246822519u >> 8) / 16777216.0f;
    return sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
}
"""

PROGRAM = NestedProgram(
    name="option_pricing",
    line="the price of an option on an average, by simulation",
    parameters=("paths", "dates"),
    arrays=(Array("payoff", "paths"), Array("price", "1")),
    body=(
        Map(
            "p",
            "paths",
            (
                Map(
                    "d",
                    "dates",
                    (Code("walk[d] = (0.03f + 0.2f * sqrtf(dates) * normal(p * dates + d)) / dates;"),),
                ),
                Scan("d", "dates", "walk[d]"),
                Fold("total", "d", "dates", "expf(walk[d])"),
                Code("payoff[p] = total > 0.9f * dates ? 100 * (total / dates - 0.9f) : 0;"),
            ),
            scalars=(("float", "total"),),
            arrays=(("float", "walk", "dates"),),
            name="simulate",
        ),
        Map(
            "one",
            "1",
            (
                Fold("sum", "p", "paths", "payoff[p]"),
                Code("price[one] = 0.95f * sum / paths;"),
            ),
            scalars=(("float", "sum"),),
            name="average",
        ),
    ),
    outputs=("payoff", "price"),
    datasets=("4096 5", "32 256"),
    large=("1048576 5", "512 367"),
    scale="4096 paths of 5 dates and 32 of 256; FinPar has 1048576 of 5 and fewer of 367",
    functions=_FUNCTIONS,
)
