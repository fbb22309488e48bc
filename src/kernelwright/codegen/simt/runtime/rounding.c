/* Arithmetic that does not round to nearest: the processor's own rounding mode, switched for one row at a time. */
#include "rows.h"
#include <math.h>
#include <immintrin.h>

/* The arithmetic is in functions of their own that are not inlined, so that it stays between the two switches. */
#define WITH_MODE(name, R, A, B, C, inner)                                                     \
  void row_##name##_rz(R *o, const A *a, const B *b, const C *c, u32 n) { SWITCH(0x6000, inner) } \
  void row_##name##_rm(R *o, const A *a, const B *b, const C *c, u32 n) { SWITCH(0x2000, inner) } \
  void row_##name##_rp(R *o, const A *a, const B *b, const C *c, u32 n) { SWITCH(0x4000, inner) }
#define SWITCH(mode, inner)                     \
  u32 usual = _mm_getcsr();                     \
  _mm_setcsr((usual & ~0x6000u) | (mode));      \
  inner(o, a, b, c, n == 1 ? 1 : WARP);         \
  _mm_setcsr(usual);

#define INNER(name, R, A, B, C, expression)                                                                  \
  __attribute__((noinline)) static void inner_##name(R *o, const A *a, const B *b, const C *c, u32 n) {      \
    (void)b, (void)c;                                                                                        \
    for (u32 l = 0; l < n; l++) o[l] = (R)(expression);                                                      \
  }                                                                                                          \
  WITH_MODE(name, R, A, B, C, inner_##name)

#pragma STDC FENV_ACCESS ON

INNER(add_f, float, float, float, void, a[l] + b[l])
INNER(add_d, double, double, double, void, a[l] + b[l])
INNER(mul_f, float, float, float, void, a[l] * b[l])
INNER(mul_d, double, double, double, void, a[l] * b[l])
INNER(div_f, float, float, float, void, a[l] / b[l])
INNER(div_d, double, double, double, void, a[l] / b[l])
#ifdef __AVX512F__
/* The fused form is in every expf, and here instructions carry a rounding mode of their own. */
#define FUSED(mode, way)                                                                                            \
  void row_fma_f_##mode(float *o, const float *a, const float *b, const float *c, u32 n) {                          \
    if (n == 1) {                                                                                                   \
      *o = _mm_cvtss_f32(_mm_fmadd_round_ss(_mm_set_ss(*a), _mm_set_ss(*b), _mm_set_ss(*c), way | _MM_FROUND_NO_EXC)); \
      return;                                                                                                       \
    }                                                                                                               \
    for (u32 l = 0; l < WARP; l += 16)                                                                              \
      _mm512_storeu_ps(o + l, _mm512_fmadd_round_ps(_mm512_loadu_ps(a + l), _mm512_loadu_ps(b + l), _mm512_loadu_ps(c + l), \
                                                    way | _MM_FROUND_NO_EXC));                                      \
  }
FUSED(rz, _MM_FROUND_TO_ZERO)
FUSED(rm, _MM_FROUND_TO_NEG_INF)
FUSED(rp, _MM_FROUND_TO_POS_INF)
#else
INNER(fma_f, float, float, float, float, __builtin_fmaf(a[l], b[l], c[l]))
#endif
INNER(fma_d, double, double, double, double, __builtin_fma(a[l], b[l], c[l]))
INNER(sqrt_f, float, float, void, void, __builtin_sqrtf(a[l]))
INNER(sqrt_d, double, double, void, void, __builtin_sqrt(a[l]))
INNER(rcp_f, float, float, void, void, 1.0f / a[l])
INNER(rcp_d, double, double, void, void, 1.0 / a[l])
INNER(d2f, float, double, void, void, (float)a[l])
INNER(i2f, float, i32, void, void, (float)a[l])
INNER(ui2f, float, u32, void, void, (float)(i64)a[l])
INNER(ll2f, float, i64, void, void, (float)a[l])
INNER(ll2d, double, i64, void, void, (double)a[l])

/* Unsigned 64-bit: halves that lose nothing but a sticky bit, since processors without AVX-512 have only the signed form. */
#define WIDE(x, T) ((i64)(x) >= 0 ? (T)(i64)(x) : (T)(i64)((x) >> 1 | ((x) & 1)) * 2)
INNER(ull2f, float, u64, void, void, WIDE(a[l], float))
INNER(ull2d, double, u64, void, void, WIDE(a[l], double))
