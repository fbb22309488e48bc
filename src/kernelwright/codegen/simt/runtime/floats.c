/* Floating point functions: the approximate ones of PTX, the C library's, and narrow formats.

   The approximate functions compute in double and round once, so that they agree with exact arithmetic in all but a few
   of the hardest cases; PTX allows far more. */
#include "rows.h"
#include <math.h>

static inline double from_bits(u64 b) { double d; memcpy(&d, &b, 8); return d; }
static inline u64 to_bits(double d) { u64 b; memcpy(&b, &d, 8); return b; }

/* 2^x: a whole part for the exponent, and the Taylor series of 2^r for |r| <= 1/2, whose remainder is below 2^-56. */
static inline double power_of_two(double x) {
  double limited = x > 1100 ? 1100 : x < -1200 ? -1200 : x;
  double whole = __builtin_rint(limited), r = (limited - whole) * 0.69314718055994530942;
  /* Not one term after the other: most launches ask for one number at a time, and wait for it. */
  double r2 = r * r, r4 = r2 * r2;
  double a = __builtin_fma(r, 1.0 / 6, 0.5), b = __builtin_fma(r, 1.0 / 120, 1.0 / 24), c = __builtin_fma(r, 1.0 / 5040, 1.0 / 720);
  double d = __builtin_fma(r, 1.0 / 362880, 1.0 / 40320), e = __builtin_fma(r, 1.0 / 39916800, 1.0 / 3628800);
  double low = __builtin_fma(r2, b, a), high = __builtin_fma(r2, d, c), top = __builtin_fma(r2, 1.0 / 479001600, e);
  double p = 1.0 + __builtin_fma(r2, __builtin_fma(r4, __builtin_fma(r4, top, high), low), r);
  /* In two steps, so that results below the normal range of double come out too. */
  i64 power = (i64)whole, half = power >> 1;
  double scaled = p * from_bits((u64)(half + 1023) << 52) * from_bits((u64)(power - half + 1023) << 52);
  return x != x ? x : scaled;
}
ROW1(ex2_approx, float, float, power_of_two((double)x))

/* log2(x) = e + 2/ln2 (s + s^3/3 + s^5/5 + ...) with s = (m-1)/(m+1), m in [sqrt(1/2), sqrt(2)): |s| < 0.172. */
static inline double logarithm(double x) {
  u64 bits = to_bits(x);
  i64 e = (i64)(bits >> 52) - 1023;
  double m = from_bits((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  u64 big = m > 1.4142135623730951;
  m = big ? m * 0.5 : m;
  e += (i64)big;
  double s = (m - 1) / (m + 1), q = s * s, p = 1.0 / 21;
  p = __builtin_fma(p, q, 1.0 / 19);
  p = __builtin_fma(p, q, 1.0 / 17);
  p = __builtin_fma(p, q, 1.0 / 15);
  p = __builtin_fma(p, q, 1.0 / 13);
  p = __builtin_fma(p, q, 1.0 / 11);
  p = __builtin_fma(p, q, 1.0 / 9);
  p = __builtin_fma(p, q, 1.0 / 7);
  p = __builtin_fma(p, q, 1.0 / 5);
  p = __builtin_fma(p, q, 1.0 / 3);
  p = __builtin_fma(p, q, 1.0);
  double result = (double)e + 2.8853900817779268147 * s * p;
  result = x == 0 ? -__builtin_inf() : result;
  result = x < 0 || x != x ? __builtin_nan("") : result;
  return x == __builtin_inf() ? x : result;
}
ROW1(lg2_approx, float, float, logarithm((double)x))

/* sin and cos: pi/2 is taken off in three parts, which is exact to double precision as far as the quotient fits in 22 bits. */
static inline double sine_of(double r) {
  double q = r * r, p = -1.0 / 1307674368000;
  p = __builtin_fma(p, q, 1.0 / 6227020800);
  p = __builtin_fma(p, q, -1.0 / 39916800);
  p = __builtin_fma(p, q, 1.0 / 362880);
  p = __builtin_fma(p, q, -1.0 / 5040);
  p = __builtin_fma(p, q, 1.0 / 120);
  p = __builtin_fma(p, q, -1.0 / 6);
  return r + r * q * p;
}
static inline double cosine_of(double r) {
  double q = r * r, p = 1.0 / 20922789888000;
  p = __builtin_fma(p, q, -1.0 / 87178291200);
  p = __builtin_fma(p, q, 1.0 / 479001600);
  p = __builtin_fma(p, q, -1.0 / 3628800);
  p = __builtin_fma(p, q, 1.0 / 40320);
  p = __builtin_fma(p, q, -1.0 / 720);
  p = __builtin_fma(p, q, 1.0 / 24);
  p = __builtin_fma(p, q, -0.5);
  return 1 + q * p;
}
static inline double turn(double x, u64 quarter) {
  double k = __builtin_rint(x * 0.63661977236758134308);
  double r = x - k * 1.57079632673412561417;
  r = r - k * 6.07710050630396597660e-11;
  r = r - k * 2.02226624879595063154e-21;
  u64 n = (u64)(i64)(k == k && __builtin_fabs(k) < 4e6 ? k : 0) + quarter;
  double s = sine_of(r), c = cosine_of(r);
  double v = n & 1 ? c : s;
  return n & 2 ? -v : v;
}
#define TURN(name, quarter, exact)                                                                   \
  void row_##name(float *o, const float *a, const void *b_, const void *c_, u32 n) {                 \
    (void)b_, (void)c_;                                                                              \
    if (n == 1) { *o = (float)(__builtin_fabsf(*a) < 1e5f ? turn((double)*a, quarter) : exact((double)*a)); return; } \
    u32 far = 0;                                                                                     \
    ALL_LANES(l) far |= (u32)!(__builtin_fabsf(a[l]) < 1e5f);                                         \
    ALL_LANES(l) o[l] = (float)turn((double)a[l], quarter);                                          \
    if (far) ALL_LANES(l) if (!(__builtin_fabsf(a[l]) < 1e5f)) o[l] = (float)exact((double)a[l]);    \
    ALL_LANES(l) o[l] = a[l] == 0 && quarter == 0 ? a[l] : o[l];                                     \
  }
TURN(sin_approx, 0, sin)
TURN(cos_approx, 1, cos)
ROW1(tanh_approx, float, float, tanh((double)x))
ROW1(rsqrt_approx, float, float, 1.0 / sqrt((double)x))
ROW1(rsqrt_approx_d, double, double, 1.0 / sqrt(x))

/* The C library's functions: in double, rounded once for float. */
#define LIBRARY1(name)                                   \
  ROW1(name##_f, float, float, name((double)x))          \
  ROW1(name##_d, double, double, name(x))
LIBRARY1(exp) LIBRARY1(exp2) LIBRARY1(log) LIBRARY1(log2) LIBRARY1(log10) LIBRARY1(sin) LIBRARY1(cos) LIBRARY1(tan)
LIBRARY1(asin) LIBRARY1(acos) LIBRARY1(atan) LIBRARY1(sinh) LIBRARY1(cosh) LIBRARY1(tanh)
ROW1(exp10_f, float, float, pow(10.0, (double)x))
ROW1(exp10_d, double, double, pow(10.0, x))
ROW2(pow_f, float, float, float, pow((double)x, (double)y))
ROW2(pow_d, double, double, double, pow(x, y))
ROW2(atan2_f, float, float, float, atan2((double)x, (double)y))
ROW2(atan2_d, double, double, double, atan2(x, y))
ROW2(frem_float, float, float, float, fmodf(x, y))
ROW2(frem_double, double, double, double, fmod(x, y))
ROW2(ldexp_f, float, float, i32, scalbnf(x, y))
ROW2(ldexp_d, double, double, i32, scalbn(x, y))
static inline double fraction(double x) { int e; return x - x == 0 ? frexp(x, &e) : x; }
static inline i32 exponent(double x) { int e = 0; if (x - x == 0) (void)frexp(x, &e); return e; }
ROW1(frexp_f, float, float, fraction((double)x))
ROW1(frexp_d, double, double, fraction(x))
ROW1(frexp_exponent_f, i32, float, exponent((double)x))
ROW1(frexp_exponent_d, i32, double, exponent(x))

/* Narrow formats. A sum of products is formed in double, where the product is exact, and rounded to odd, so that rounding
   once more to the narrow format is right (Boldo and Melquiond, "When double rounding is odd", 2005). */
static inline double fma_odd(double a, double b, double c) {
  double p = a * b, s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
  u64 bits = to_bits(s);
  if (error != 0 && s - s == 0 && !(bits & 1)) bits += (error > 0) == (s > 0) ? 1 : -1ull;
  return from_bits(bits);
}
static inline float from_half(u16 h) { _Float16 f; memcpy(&f, &h, 2); return (float)f; }
static inline u16 half_of(double d) {
  _Float16 f = (_Float16)d;
  u16 h;
  memcpy(&h, &f, 2);
  return d != d ? 0x7FFF : h;
}
static inline float from_bfloat(u16 b) { u32 w = (u32)b << 16; float f; memcpy(&f, &w, 4); return f; }
/* Once to float with the lost bits kept in the last one, once to bfloat. */
static inline u16 bfloat_of(double d) {
  if (d != d) return 0x7FFF;
  float f = (float)d;
  u32 w;
  memcpy(&w, &f, 4);
  if ((double)f != d && f - f == 0) {
    if (__builtin_fabs((double)f) > __builtin_fabs(d)) w -= 1;
    w |= 1;
  }
  return (u16)((w + 0x7FFF + (w >> 16 & 1)) >> 16);
}
ROW1(half_from_double, u16, double, half_of(x))
ROW1(bfloat_from_double, u16, double, bfloat_of(x))
ROW3(fma_half, u16, u16, u16, u16, half_of(fma_odd(from_half(x), from_half(y), from_half(z))))
ROW3(fma_bfloat, u16, u16, u16, u16, bfloat_of(fma_odd(from_bfloat(x), from_bfloat(y), from_bfloat(z))))
ROW2(frem_half, u16, u16, u16, half_of(fmod(from_half(x), from_half(y))))
ROW2(frem_bfloat, u16, u16, u16, bfloat_of(fmod(from_bfloat(x), from_bfloat(y))))
static inline double odd_from_u64(u64 x) {
  u32 drop = x >> 53 ? 11 : 0;
  u64 kept = x >> drop, lost = x & ((1ull << drop) - 1);
  return (double)((kept | (lost != 0)) << drop);
}
ROW1(bfloat_from_u64, u16, u64, bfloat_of(odd_from_u64(x)))
ROW1(bfloat_from_s64, u16, i64, bfloat_of(x < 0 ? -odd_from_u64(0 - (u64)x) : odd_from_u64((u64)x)))
ROW1(half_from_u64, u16, u64, half_of(odd_from_u64(x)))
ROW1(half_from_s64, u16, i64, half_of(x < 0 ? -odd_from_u64(0 - (u64)x) : odd_from_u64((u64)x)))

/* Towards zero, saturating, a NaN is 0: LLVM's fptosi.sat and fptoui.sat. The bounds are exact in both types. */
#define TO_INTEGER(from, T, to, R, LOW, HIGH, LEAST, MOST) \
  ROW1(from##_to_##to, R, T, x != x ? (R)0 : x < LOW ? LEAST : x >= HIGH ? MOST : (R)x)
#define TO_INTEGERS(from, T)                                                                     \
  TO_INTEGER(from, T, s32, i32, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX)               \
  TO_INTEGER(from, T, u32, u32, 0.0, 4294967296.0, 0, UINT32_MAX)                                \
  TO_INTEGER(from, T, s64, i64, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX) \
  TO_INTEGER(from, T, u64, u64, 0.0, 18446744073709551616.0, 0, UINT64_MAX)
TO_INTEGERS(float, float)
TO_INTEGERS(double, double)
ROW1(s64_to_float, float, i64, (float)x)
ROW1(s64_to_double, double, i64, (double)x)
ROW1(u64_to_float, float, u64, (float)x)
ROW1(u64_to_double, double, u64, (double)x)
