/* Integer functions that a vector unit has no instruction for. */
#include "rows.h"

/* 53 bits of a double hold every 32-bit quotient exactly enough: the error of the division is below 1 / divisor. */
ROW2(udiv32, u32, u32, u32, y ? (u32)((double)x / (double)y) : ~0u)
ROW2(urem32, u32, u32, u32, y ? x - (u32)((double)x / (double)y) * y : ~0u)
ROW2(sdiv32, i32, i32, i32, y ? (i32)(u32)(i64)((double)x / (double)y) : -1)
ROW2(srem32, i32, i32, i32, y ? (i32)((u32)x - (u32)(i64)((double)x / (double)y) * (u32)y) : -1)

/* Most 64-bit divisions are of small numbers, for which the processor's 32-bit division is much faster. */
static inline u64 divide(u64 x, u64 y) { return (x | y) >> 32 ? x / y : (u32)x / (u32)y; }
static inline u64 remainder64(u64 x, u64 y) { return (x | y) >> 32 ? x % y : (u32)x % (u32)y; }
static inline u64 size_of(i64 x) { return x < 0 ? 0 - (u64)x : (u64)x; }
static inline i64 divide_signed(i64 x, i64 y) {
  u64 q = divide(size_of(x), size_of(y));
  return (i64)((x < 0) != (y < 0) ? 0 - q : q);
}
static inline i64 remainder_signed(i64 x, i64 y) {
  u64 r = remainder64(size_of(x), size_of(y));
  return (i64)(x < 0 ? 0 - r : r);
}
ROW2(udiv64, u64, u64, u64, y ? divide(x, y) : ~0ull)
ROW2(urem64, u64, u64, u64, y ? remainder64(x, y) : ~0ull)
ROW2(sdiv64, i64, i64, i64, y ? divide_signed(x, y) : -1)
ROW2(srem64, i64, i64, i64, y ? remainder_signed(x, y) : -1)

typedef __int128 i128;
static i128 divide_wide(i128 x, i128 y) {
  u128 a = x < 0 ? 0 - (u128)x : (u128)x, b = y < 0 ? 0 - (u128)y : (u128)y, q = a / b;
  return (i128)((x < 0) != (y < 0) ? 0 - q : q);
}
static i128 remainder_wide(i128 x, i128 y) {
  u128 a = x < 0 ? 0 - (u128)x : (u128)x, b = y < 0 ? 0 - (u128)y : (u128)y, r = a % b;
  return (i128)(x < 0 ? 0 - r : r);
}
ROW2(udiv128, u128, u128, u128, y ? x / y : ~(u128)0)
ROW2(urem128, u128, u128, u128, y ? x % y : ~(u128)0)
ROW2(sdiv128, i128, i128, i128, y ? divide_wide(x, y) : -1)
ROW2(srem128, i128, i128, i128, y ? remainder_wide(x, y) : -1)

ROW2(mul64, u64, u64, u64, x * y)
ROW1(low64, u32, u64, (u32)x)
ROW1(high64, u32, u64, (u32)(x >> 32))
ROW2(mulhi_ll, i64, i64, i64, (i64)((i128)x * y >> 64))
ROW2(mulhi_ull, u64, u64, u64, (u64)((u128)x * y >> 64))

/* As LLVM's intrinsics of these names have it: of 0 the width is counted, and shifts take their amount modulo the width. */
ROW1(ctlz32, u32, u32, x ? (u32)__builtin_clz(x) : 32)
ROW1(ctlz64, u64, u64, x ? (u64)__builtin_clzll(x) : 64)
ROW1(cttz32, u32, u32, x ? (u32)__builtin_ctz(x) : 32)
ROW1(cttz64, u64, u64, x ? (u64)__builtin_ctzll(x) : 64)
ROW1(ctpop32, u32, u32, (u32)__builtin_popcount(x))
ROW1(ctpop64, u64, u64, (u64)__builtin_popcountll(x))
ROW1(bitreverse32, u32, u32, __builtin_bitreverse32(x))
ROW1(bitreverse64, u64, u64, __builtin_bitreverse64(x))
ROW3(fshl32, u32, u32, u32, u32, (u32)(((u64)x << 32 | y) << (z & 31) >> 32))
ROW3(fshr32, u32, u32, u32, u32, (u32)(((u64)x << 32 | y) >> (z & 31)))
ROW3(fshl64, u64, u64, u64, u64, z & 63 ? x << (z & 63) | y >> (64 - (z & 63)) : x)
ROW3(fshr64, u64, u64, u64, u64, z & 63 ? x << (64 - (z & 63)) | y >> (z & 63) : y)

/* prmt: four bytes picked from eight; bit 3 of a selector repeats the sign of the byte picked. */
static inline u32 permute_bytes(u32 a, u32 b, u32 selector) {
  u64 source = (u64)b << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; i++) {
    u32 pick = selector >> (4 * i) & 15;
    u32 byte = (u32)(source >> (8 * (pick & 7))) & 255;
    u32 sign = byte & 128 ? 255 : 0;
    result |= (pick & 8 ? sign : byte) << (8 * i);
  }
  return result;
}
ROW3(prmt, u32, u32, u32, u32, permute_bytes(x, y, z))

/* fns: the position of the n-th set bit from a base, upwards or downwards. */
static u32 nth_set(u32 mask, u32 base, i32 n) {
  if (n == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
  i64 step = n > 0 ? 1 : -1, left = n > 0 ? n : -(i64)n;
  for (i64 at = base; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) return (u32)at;
  return ~0u;
}
ROW3(fns, u32, u32, u32, i32, nth_set(x, y, z))

void row_permute32(u32 *o, const u32 *a, const u32 *b, const void *c, u32 n) {
  (void)c, (void)n;
  ALL_LANES(l) o[l] = a[b[l] & 31];
}

/* match: which lanes of my mask hold my value; ``all``: the mask when they all do, else 0. */
#define MATCH(bits, T)                                                                      \
  void row_match_any##bits(u32 *o, const T *a, const u32 *who, const void *c, u32 n) {      \
    (void)c;                                                                                \
    for (u32 l = 0; l < n; l++) {                                                           \
      u32 found = 0;                                                                        \
      for (u32 k = 0; k < n; k++) found |= (u32)(a[k] == a[l]) << k;                        \
      o[l] = found & who[l];                                                                \
    }                                                                                       \
  }                                                                                         \
  void row_match_all##bits(u32 *o, const T *a, const u32 *who, const void *c, u32 n) {      \
    (void)c;                                                                                \
    for (u32 l = 0; l < n; l++) {                                                           \
      u32 found = 0;                                                                        \
      for (u32 k = 0; k < n; k++) found |= (u32)(a[k] == a[l]) << k;                        \
      o[l] = (found & who[l]) == who[l] ? who[l] : 0;                                       \
    }                                                                                       \
  }
MATCH(32, u32)
MATCH(64, u64)

/* redux: every lane gets what its mask's lanes make together, in lane order. */
#define REDUX(name, T, expression)                                                          \
  void row_redux_##name(T *o, const T *a, const u32 *who, const void *c, u32 n) {           \
    (void)c;                                                                                \
    for (u32 l = 0; l < n; l++) {                                                           \
      if (l && who[l] == who[l - 1]) { o[l] = o[l - 1]; continue; }                         \
      u32 mask = who[l];                                                                    \
      T x = mask ? a[__builtin_ctz(mask)] : 0;                                              \
      x = FIRST(x);                                                                         \
      for (mask &= mask - 1; mask; mask &= mask - 1) {                                      \
        T y = FIRST(a[__builtin_ctz(mask)]);                                                \
        x = (expression);                                                                   \
      }                                                                                     \
      o[l] = x;                                                                             \
    }                                                                                       \
  }
#define FIRST(x) (x)
REDUX(add, u32, x + y)
REDUX(and, u32, x & y)
REDUX(or, u32, x | y)
REDUX(xor, u32, x ^ y)
REDUX(umin, u32, x < y ? x : y)
REDUX(umax, u32, x > y ? x : y)
REDUX(min, i32, x < y ? x : y)
REDUX(max, i32, x > y ? x : y)
static inline float lesser(float x, float y) {
  return x != x ? y : y != y ? x : x < y || (x == y && __builtin_signbit(x)) ? x : y;
}
static inline float greater(float x, float y) {
  return x != x ? y : y != y ? x : x > y || (x == y && !__builtin_signbit(x)) ? x : y;
}
REDUX(fmin, float, lesser(x, y))
REDUX(fmax, float, greater(x, y))
REDUX(fmin_nan, float, x != x || y != y ? x + y : lesser(x, y))
REDUX(fmax_nan, float, x != x || y != y ? x + y : greater(x, y))
#undef FIRST
#define FIRST(x) __builtin_fabsf(x)
REDUX(fmin_abs, float, lesser(x, y))
REDUX(fmax_abs, float, greater(x, y))
REDUX(fmin_abs_nan, float, x != x || y != y ? x + y : lesser(x, y))
REDUX(fmax_abs_nan, float, x != x || y != y ? x + y : greater(x, y))
