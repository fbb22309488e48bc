"""The price of an option on an average, from simulated paths: Sobol's numbers made normal, a Brownian bridge through them, steps of
the price, their running products, an average, a discount.

The bridge goes from the path's end to ever smaller gaps, a level of gaps at a time, so that the first numbers, which are the most evenly
spread, decide the most. Direction numbers are odd ones made from the dimension, for primitive polynomials in their order: any odd ones
make a Sobol sequence (Bratley and Fox, ACM TOMS 14, 1988). The inverse of the normal distribution is Wichura's PPND7 (AS 241, 1988).
"""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram, Scan

_FUNCTIONS = """
/* Whether x generates all other polynomials modulo this one, which is given by its bits. */
static int is_primitive(unsigned polynomial, int degree)
{
    unsigned power = 1;
    for (unsigned n = 1; n < 1u << degree; n++) {
        power = power << 1 >> degree & 1 ? power << 1 ^ polynomial : power << 1;
        if (power == 1)
            return n == (1u << degree) - 1;
    }
    return 0;
}
static unsigned next_primitive(unsigned polynomial)
{
    for (int degree = 1;; polynomial++) {
        while (polynomial >> (degree + 1))
            degree++;
        if (is_primitive(polynomial, degree))
            return polynomial;
    }
}
/* 32 directions of each of so many dimensions; the first of these is van der Corput's. */
static unsigned *directions(int dimensions)
{
    unsigned *all = (unsigned *)malloc(dimensions * 32 * sizeof(unsigned)), polynomial = 2;
    for (int d = 0; d < dimensions; d++) {
        unsigned *own = all + d * 32;
        int degree = 0;
        if (d > 0) {
            polynomial = next_primitive(polynomial + 1);
            while (polynomial >> (degree + 1))
                degree++;
        }
        for (int k = 0; k < 32; k++) {
            if (k < degree || d == 0) {
                own[k] = (d == 0 ? 1 : (unsigned)(noise(d * 32 + k) * 65536) % (1u << k) * 2 + 1) << (31 - k);
                continue;
            }
            own[k] = own[k - degree] ^ own[k - degree] >> degree;
            for (int j = 1; j < degree; j++)
                own[k] ^= polynomial >> (degree - j) & 1 ? own[k - j] : 0;
        }
    }
    return all;
}
static unsigned direction_of(int dimensions, int i)
{
    static unsigned *all;
    if (!all)
        all = directions(dimensions);
    return all[i];
}

/* A date between two that are known: `left` of the known part and `right` make its mean. Date 0 is today, where the path is 0. */
struct Bridge {
    int left, middle, right;
    float from_left, from_right, deviation;
};
static __host__ __device__ int level_size(int dates, int level)
{
    int all = 1 << level, left = dates - all;
    return all < left ? all : left;
}
static __host__ __device__ int levels(int dates)
{
    int level = 0;
    while (1 << level < dates)
        level++;
    return level;
}
/* Entry `i` in the order of levels: gap number 1 is the whole, gap n is halved into 2n and 2n + 1. */
static Bridge bridge_of(int dates, int i)
{
    Bridge made = {0, dates, dates, 0, 0, sqrtf(dates)};
    for (int gap = 1, found = 0; found < i; gap++) {
        int left = 0, right = dates, top = 1;
        while (top * 2 <= gap)
            top *= 2;
        while (top /= 2)
            *(gap & top ? &left : &right) = (left + right) / 2;
        if (right - left < 2)
            continue;
        int middle = (left + right) / 2;
        float span = right - left, before = middle - left, after = right - middle;
        Bridge next = {left, middle, right, after / span, before / span, sqrtf(before * after / span)};
        made = next;
        found++;
    }
    return made;
}

/* Number n of a dimension, from 0 to 1 and neither. */
static __device__ float sobol(const unsigned *direction, unsigned n)
{
    unsigned x = 0, gray = n ^ n >> 1;
    for (int bit = 0; gray >> bit; bit++)
        if (gray >> bit & 1)
            x ^= direction[bit];
    return ((x >> 9) + 0.5f) / 8388608.0f;
}
static __device__ float normal_quantile(float u)
{
    float q = u - 0.5f, r = 0.180625f - q * q;
    if (r >= 0)
        return q * (((59.109374720f * r + 159.29113202f) * r + 50.434271938f) * r + 3.3871327179f) /
               (((67.187563600f * r + 78.757757664f) * r + 17.895169469f) * r + 1);
    r = sqrtf(-logf(q < 0 ? u : 1 - u)) - 1.6f;
    float x = (((0.17023821103f * r + 1.3067284816f) * r + 2.7568153900f) * r + 1.4234372777f) /
              ((0.12021132975f * r + 0.73700164250f) * r + 1);
    return q < 0 ? -x : x;
}
static __device__ float times(float a, float b) { return a * b; }
"""
_BETWEEN = """
Bridge gap = bridge[(1 << level) + j];
walk[gap.middle] = gap.from_left * walk[gap.left] + gap.from_right * walk[gap.right] + gap.deviation * number[(1 << level) + j];
"""

PROGRAM = NestedProgram(
    name="option_pricing",
    line="the price of an option on an average, by simulation with Sobol's numbers and a Brownian bridge",
    parameters=("paths", "dates"),
    arrays=(
        Array("direction", "dates * 32", "direction_of(dates, i)", "unsigned"),
        Array("bridge", "dates", "bridge_of(dates, i)", "Bridge"),
        Array("payoff", "paths"),
        Array("price", "1"),
    ),
    body=(
        Map(
            "p",
            "paths",
            (
                Map("d", "dates", (Code("number[d] = normal_quantile(sobol(direction + d * 32, p + 1));"),)),
                Code("walk[0] = 0;\nwalk[dates] = bridge[0].deviation * number[0];"),
                Loop(
                    "level",
                    "levels(dates)",
                    (Map("j", "level_size(dates, level)", (Code(_BETWEEN),), at_most="dates"),),
                ),
                Map(
                    "d",
                    "dates",
                    (
                        Code(
                            "growth[d] = expf((0.03f - 0.02f) / dates + 0.2f * (walk[d + 1] - walk[d]) / sqrtf(dates));"
                        ),
                    ),
                ),
                Scan("d", "dates", "growth[d]", "times"),
                Fold("total", "d", "dates", "growth[d]"),
                Code("payoff[p] = total > 0.9f * dates ? 100 * (total / dates - 0.9f) : 0;"),
            ),
            scalars=(("float", "total"),),
            arrays=(("float", "number", "dates"), ("float", "walk", "(dates + 1)"), ("float", "growth", "dates")),
            name="simulate",
        ),
        Map(
            "one",
            "1",
            (
                Fold("sum", "p", "paths", "payoff[p]"),
                Code("price[one] = 0.97044553f * sum / paths;"),
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
