"""Calibration of Heston's model to quotes: differential evolution, each candidate priced on all quotes by an integral.

The integral is the difference from Black and Scholes' price for the mean variance until the quote's date, by Gauss and Laguerre's rule. Its
coefficients depend on the candidate and the date, and are computed once for all quotes of a date.
"""

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
static __device__ Complex scaled(float by, Complex a) { return complex(by * a.re, by * a.im); }
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
static __device__ float normal(float x) { return 0.5f * erfcf(-0.70710678f * x); }

/* Black and Scholes' price of a call on an asset worth 1, at this strike; `deviation` is that of the asset at the end. */
static __device__ float call(float strike, float deviation)
{
    float d = deviation / 2 - logf(strike) / deviation;
    return normal(d) - strike * normal(d - deviation);
}
static __device__ float mean_variance(const float *model, float years)
{
    return model[1] + (model[0] - model[1]) * (1 - expf(-model[2] * years)) / (model[2] * years);
}
/* (Black and Scholes' characteristic function less Heston's at x - i) / (x (x - i)), for variance v, its level, speed, own volatility and
 * correlation with the asset. */
static __device__ Complex difference(const float *model, float years, float x)
{
    float v = model[0], level = model[1], speed = model[2], volatility = model[3], correlation = model[4];
    float square = volatility * volatility, by = speed * level / square, twist = correlation * volatility;
    Complex here = complex(x * x, -x), one = complex(1, 0);
    Complex beta = complex(speed - twist, -twist * x);
    Complex d = root(plus(times(beta, beta), scaled(square, here)));
    Complex less = minus(beta, d), g = over(less, plus(beta, d)), decay = exponential(scaled(-years, d));
    Complex rest = minus(one, times(g, decay)), log_ratio = logarithm(over(rest, minus(one, g)));
    Complex drift = scaled(by, minus(scaled(years, less), scaled(2, log_ratio)));
    Complex variance = scaled(v / square, times(less, over(minus(one, decay), rest)));
    Complex plain = exponential(scaled(-0.5f * years * mean_variance(model, years), here));
    return over(minus(plain, exponential(plus(drift, variance))), here);
}

/* How many of Laguerre's roots lie below x: negative pivots of the rule's tridiagonal matrix. */
static int below(double x, int points)
{
    double pivot = 1;
    int count = 0;
    for (int i = 0; i < points; i++) {
        pivot = 2 * i + 1 - x - i * i / pivot;
        count += pivot < 0;
    }
    return count;
}
static double laguerre_node(int j, int points)
{
    double low = 0, high = 4.0 * points + 4;
    for (int time = 0; time < 80; time++)
        *(below((low + high) / 2, points) > j ? &high : &low) = (low + high) / 2;
    return (low + high) / 2;
}
/* The rule's weight times e^x. */
static double laguerre_weight(int j, int points)
{
    double x = laguerre_node(j, points), before = 0, here = 1, next;
    for (int i = 0; i <= points; i++, before = here, here = next)
        next = ((2 * i + 1 - x) * here - i * before) / (i + 1);
    return exp(x) * x / ((points + 1.0) * (points + 1) * here * here);
}
"""
_MARKET = """
float root_years = sqrtf(years[q * dates / quotes]), d = volatility[q] * root_years / 2 - logf(strike[q]) / (volatility[q] * root_years);
float vega = root_years * 0.39894228f * expf(-d * d / 2);
weight[q] = 1 / (vega > 0.1f ? vega : 0.1f);
market[q] = call(strike[q], volatility[q] * root_years);
"""
_COEFFICIENT = """
int k = (c * dates + m / points) * points + m % points;
coefficient[k] = scaled(quadrature[m % points], difference(trial + c * 5, years[m / points], node[m % points]));
"""
_TERM = (
    "coefficient[(c * dates + q * dates / quotes) * points + z].re * cosf(node[z] * logf(strike[q])) + "
    "coefficient[(c * dates + q * dates / quotes) * points + z].im * sinf(node[z] * logf(strike[q]))"
)
_MISS = """
float until = years[q * dates / quotes], least_price = strike[q] < 1 ? 1 - strike[q] : 0;
float price = integral / 3.14159265f + call(strike[q], sqrtf(until * mean_variance(trial + c * 5, until)));
price = price > 1 ? 1 : price < least_price ? least_price : price;
miss[c * quotes + q] = weight[q] * weight[q] * (price - market[q]) * (price - market[q]);
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
    float low = k == 4 ? -0.9f : k == 2 ? 0.5f : k == 3 ? 0.1f : 0.01f, high = k == 4 ? 0.0f : k == 2 ? 4.0f : k == 3 ? 0.9f : 0.4f;
    trial[c * 5 + k] = moved < low ? low : moved > high ? high : moved;
}
"""
_FIRST = (
    "i % 5 == 4 ? -0.9f * noise(i) : i % 5 == 2 ? 0.5f + 3 * noise(i) : i % 5 == 3 ? 0.2f + 0.6f * noise(i) : "
    "0.02f + 0.3f * noise(i)"
)

PROGRAM = NestedProgram(
    name="heston",
    line="calibration of Heston's model to quotes of several dates, by differential evolution",
    parameters=("quotes", "dates", "points", "population", "generations"),
    arrays=(
        Array("strike", "quotes", "0.8f + 0.4f * noise(i)"),
        Array("volatility", "quotes", "0.2f + 0.1f * noise(2 * i + 1)"),
        Array("years", "dates", "0.25f + 2.0f * i / dates"),
        Array("node", "points", "laguerre_node(i, points)"),
        Array("quadrature", "points", "laguerre_weight(i, points)"),
        Array("market", "quotes"),
        Array("weight", "quotes"),
        Array("candidate", "population * 5", _FIRST),
        Array("trial", "population * 5"),
        Array("coefficient", "population * dates * points", "Complex()", "Complex"),
        Array("miss", "population * quotes"),
        Array("least", "population", "1e30f"),
    ),
    body=(
        Map("q", "quotes", (Code(_MARKET),), name="market_prices"),
        Loop(
            "t",
            "generations",
            (
                Map("c", "population", (Code(_VARY),), name="vary"),
                Map(
                    "c",
                    "population",
                    (
                        Map("m", "dates * points", (Code(_COEFFICIENT),)),
                        Map(
                            "q",
                            "quotes",
                            (Fold("integral", "z", "points", _TERM), Code(_MISS)),
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
    datasets=("16 2 10 64 2", "512 8 20 8 2"),
    large=("1062 20 10 40 2", "10000 20 10 40 2"),
    scale="16 and 512 quotes; the paper has 1062 and 10000",
    functions=_FUNCTIONS,
)
