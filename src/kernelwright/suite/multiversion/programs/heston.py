"""Calibration of Heston's model to quotes: differential evolution, each candidate priced on all quotes by an integral."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Loop, Map, NestedProgram

_FUNCTIONS = """
struct Complex {
    float re, im;
};
static __device__ Complex complex(float re, float im)
{
    Complex made = {re, im};
    return made;
}
static __device__ Complex plus(Complex a, Complex b) { return complex(a.re + b.re, a.im + b.im); }
static __device__ Complex minus(Complex a, Complex b) { return complex(a.re - b.re, a.im - b.im); }
static __device__ Complex times(Complex a, Complex b) { return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
static __device__ Complex over(Complex a, Complex b)
{
    float square = b.re * b.re + b.im * b.im;
    return complex((a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square);
}
static __device__ Complex root(Complex a)
{
    float length = sqrtf(a.re * a.re + a.im * a.im), re = sqrtf((length + a.re) / 2);
    return complex(re, a.im / (2 * re));
}
static __device__ Complex exponential(Complex a) { return complex(expf(a.re) * cosf(a.im), expf(a.re) * sinf(a.im)); }
static __device__ Complex logarithm(Complex a)
{
    return complex(0.5f * logf(a.re * a.re + a.im * a.im), atan2f(a.im, a.re));
}

/* The integrand of Lewis's formula at point z of `points`, for variance v, mean level, speed, its own volatility, and correlation. */
static __device__ float integrand(const float *model, float moneyness, float years, int z, int points)
{
    float v = model[0], level = model[1], speed = model[2], volatility = model[3], correlation = model[4];
    float u = (z + 0.5f) * 16 / points, square = volatility * volatility;
    Complex beta = complex(speed - 0.5f * correlation * volatility, -correlation * volatility * u);
    Complex d = root(plus(times(beta, beta), complex(square * (u * u + 0.25f), 0)));
    Complex g = over(minus(beta, d), plus(beta, d));
    Complex decay = exponential(complex(-d.re * years, -d.im * years));
    Complex one = complex(1, 0), rest = minus(one, times(g, decay));
    Complex log_ratio = logarithm(over(rest, minus(one, g))), difference = minus(beta, d);
    float by = speed * level / square;
    Complex exponent = complex(by * (difference.re * years - 2 * log_ratio.re), by * (difference.im * years - 2 * log_ratio.im));
    Complex variance = times(difference, over(minus(one, decay), rest));
    exponent = plus(exponent, complex(v / square * variance.re, v / square * variance.im));
    Complex value = exponential(plus(exponent, complex(0, u * moneyness)));
    return value.re / (u * u + 0.25f) * 16 / points;
}
"""
_MISS = """
float price = 1 - expf(-0.5f * moneyness[q]) / 3.14159265f * integral;
miss[c * quotes + q] = (price - market[q]) * (price - market[q]);
"""
_KEEP = """
if (error < least[c]) {
    least[c] = error;
    for (int k = 0; k < 5; k++)
        candidate[c * 5 + k] = trial[c * 5 + k];
}
"""
_VARY = """
int one = (c + t + 1) % population, other = (c + 2 * t + 2) % population;
for (int k = 0; k < 5; k++) {
    float moved = candidate[c * 5 + k] + (t > 0 ? 0.5f * (candidate[one * 5 + k] - candidate[other * 5 + k]) : 0);
    float low = k == 4 ? -0.9f : k == 2 ? 0.5f : 0.01f, high = k == 4 ? 0.0f : k == 2 ? 4.0f : k == 3 ? 0.9f : 0.4f;
    trial[c * 5 + k] = moved < low ? low : moved > high ? high : moved;
}
"""
_FIRST = (
    "i % 5 == 4 ? -0.9f * noise(i) : i % 5 == 2 ? 0.5f + 3 * noise(i) : i % 5 == 3 ? 0.2f + 0.6f * noise(i) : "
    "0.02f + 0.3f * noise(i)"
)

PROGRAM = NestedProgram(
    name="heston",
    line="calibration of Heston's model to quotes, by differential evolution",
    parameters=("quotes", "points", "population", "generations"),
    arrays=(
        Array("moneyness", "quotes", "0.4f * (noise(i) - 0.5f)"),
        Array("years", "quotes", "0.25f + noise(3 * i + 1)"),
        Array("market", "quotes", "0.08f + 0.1f * noise(i)"),
        Array("candidate", "population * 5", _FIRST),
        Array("trial", "population * 5"),
        Array("miss", "population * quotes"),
        Array("least", "population", "1e30f"),
    ),
    body=(
        Loop(
            "t",
            "generations",
            (
                Map("c", "population", (Code(_VARY),), name="vary"),
                Map(
                    "c",
                    "population",
                    (
                        Map(
                            "q",
                            "quotes",
                            (
                                Fold(
                                    "integral",
                                    "z",
                                    "points",
                                    "integrand(trial + c * 5, moneyness[q], years[q], z, points)",
                                ),
                                Code(_MISS),
                            ),
                            scalars=(("float", "integral"),),
                            name="quotes",
                        ),
                        Fold("error", "q", "quotes", "miss[c * quotes + q]"),
                        Code(_KEEP),
                    ),
                    scalars=(("float", "error"),),
                    name="candidates",
                ),
            ),
        ),
    ),
    outputs=("least", "candidate"),
    datasets=("16 16 64 2", "512 32 8 2"),
    scale="16 and 512 quotes; the paper has 1062 and 10000, of a model with interest rates and local volatility",
    functions=_FUNCTIONS,
)
