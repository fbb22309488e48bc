"""Breaks in time series of many pixels, after BFAST's monitoring: a season and a trend are fitted to the history of each, and moving sums
of what they miss after it are held against a bound.

    the model           1, the time, and three harmonics of a year; least squares, by elimination, over the dates that are there. Time goes
                        from -1 to 1 in the history, which keeps the system well-conditioned
    dates that miss     are left out of the series, which is packed: its n values of the history, then those monitored
    a moving sum        of the last n / 4 residuals, over their deviation and the root of n
    a break             the first date at which one exceeds the bound 2.39 sqrt(log+ t), t being the values so far over n; log+ is 1 below e
"""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram, Scan

TERMS = 8
"""Of the model."""
_FUNCTIONS = f"""
#define TERMS {TERMS}
static __device__ float larger_of(float a, float b) {{ return a > b ? a : b; }}
static __device__ int added(int a, int b) {{ return a + b; }}
/* The sum of a quarter of the history's residuals that ends with value `last`, over what is expected of it. */
template <class Sums> static __device__ float moving_sum(Sums sums, int last, int history, float squares)
{{
    int width = history / 4;
    return (sums[last] - sums[last - width]) / sqrtf(squares / (history - TERMS) * history);
}}
static __device__ float bound(int last, int history)
{{
    float time = (last + 1.0f) / history;
    return 2.39f * sqrtf(time > 2.7182818f ? logf(time) : 1);
}}
static float model(int term, int date, int dates, int year)
{{
    float angle = 6.2831853f * (term / 2) * date / year;
    return term == 0 ? 1 : term == 1 ? 4.0f * (date + 1) / dates - 1 : term % 2 ? cosf(angle) : sinf(angle);
}}
static float observed(int pixel, int date, int dates, int year)
{{
    int i = pixel * dates + date;
    float season = 0.5f * model(2, date, dates, year) + 0.2f * model(5, date, dates, year) + 0.1f * model(6, date, dates, year);
    return i % 11 == 3 ? -1 : 1 + 0.3f * noise(i) + season + (date > 3 * dates / 4 && pixel % 2 ? 1 : 0);
}}
"""
_ELIMINATE = """
int r = e / (TERMS + 1), c = e % (TERMS + 1);
float pivot = system[k * (TERMS + 1) + k], above = system[k * (TERMS + 1) + c];
eliminated[e] = r == k ? above / pivot : system[e] - system[r * (TERMS + 1) + k] * above / pivot;
"""
_PRODUCT = (
    "series[p * dates + d] < 0 ? 0 : basis[e / (TERMS + 1) * dates + d] * "
    "(e % (TERMS + 1) < TERMS ? basis[e % (TERMS + 1) * dates + d] : series[p * dates + d])"
)
_PACK = """
if (series[p * dates + d] >= 0)
    missed[seen[d] - 1] = series[p * dates + d] - fitted;
"""
_IS_MONITORED = "d + 1 > dates / 2 && series[p * dates + d] >= 0"
_SUM = "moving_sum(missed, seen[d] - 1, seen[dates / 2 - 1], squares)"

PROGRAM = NestedProgram(
    name="bfast",
    line="breaks in time series of many pixels, some of their values missing (-1)",
    parameters=("pixels", "dates", "year"),
    arrays=(
        Array("basis", "TERMS * dates", "model(i / dates, i % dates, dates, year)"),
        Array("series", "pixels * dates", "observed(i / dates, i % dates, dates, year)"),
        Array("largest_sum", "pixels"),
        Array("first_break", "pixels"),
    ),
    body=(
        Map(
            "p",
            "pixels",
            (
                Map(
                    "e",
                    "TERMS * (TERMS + 1)",
                    (Fold("product", "d", "dates / 2", _PRODUCT), Code("system[e] = product;")),
                    scalars=(("float", "product"),),
                    name="products",
                ),
                Loop(
                    "k",
                    "TERMS",
                    (
                        Map("e", "TERMS * (TERMS + 1)", (Code(_ELIMINATE),)),
                        Map("e", "TERMS * (TERMS + 1)", (Code("system[e] = eliminated[e];"),)),
                    ),
                ),
                Map("d", "dates", (Code("seen[d] = series[p * dates + d] >= 0;\nmissed[d] = 0;"),)),
                Scan("d", "dates", "seen[d]", "added", "int"),
                Map(
                    "d",
                    "dates",
                    (
                        Fold("fitted", "k", "TERMS", "system[k * (TERMS + 1) + TERMS] * basis[k * dates + d]"),
                        Code(_PACK),
                    ),
                    scalars=(("float", "fitted"),),
                    name="residuals",
                ),
                Fold("squares", "d", "dates / 2", "d < seen[dates / 2 - 1] ? missed[d] * missed[d] : 0"),
                Scan("d", "dates", "missed[d]"),
                Fold("largest", "d", "dates", f"{_IS_MONITORED} ? fabsf({_SUM}) : 0", "larger_of"),
                Fold(
                    "first",
                    "d",
                    "dates",
                    f"{_IS_MONITORED} && fabsf({_SUM}) > bound(seen[d] - 1, seen[dates / 2 - 1]) ? d : dates",
                    "smaller",
                    "dates",
                ),
                Code("largest_sum[p] = largest;\nfirst_break[p] = first < dates ? first : -1;"),
            ),
            scalars=(("float", "squares"), ("float", "largest"), ("float", "first")),
            arrays=(
                ("float", "system", "TERMS * (TERMS + 1)"),
                ("float", "eliminated", "TERMS * (TERMS + 1)"),
                ("int", "seen", "dates"),
                ("float", "missed", "dates"),
            ),
            name="pixels",
        ),
    ),
    outputs=("largest_sum", "first_break"),
    datasets=("512 48 12", "8 512 23"),
    large=("16384 256 23", "512 1024 23"),
    scale="512 pixels of 48 dates and 8 of 512; the paper's have 10^5 and more",
    functions=_FUNCTIONS,
)
