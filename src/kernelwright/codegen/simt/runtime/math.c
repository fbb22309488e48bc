/* Functions on rows of lanes: (result, a, b, c, n) with n = 1 or a whole warp. */
#include "simt.h"
#include <math.h>

#define ROW2(name, T, R, expression)                                                      \
  static void name(R *o, const T *a, const T *b, const T *c, u32 n) {                     \
    (void)c;                                                                              \
    if (n == 1) { T x = *a, y = *b; *o = (R)(expression); return; }                       \
    ALL_LANES(l) { T x = a[l], y = b[l]; o[l] = (R)(expression); }                        \
  }

ROW2(udiv32, u32, u32, y ? (u32)((double)x / (double)y) : ~0u)
ROW2(urem32, u32, u32, y ? x - (u32)((double)x / (double)y) * y : ~0u)
ROW2(sdiv32, i32, i32, y ? (i32)(i64)((double)x / (double)y) : -1)
ROW2(srem32, i32, i32, y ? (i32)((u32)x - (u32)(i64)((double)x / (double)y) * (u32)y) : -1)
ROW2(udiv64, u64, u64, y ? x / y : ~0ull)
ROW2(urem64, u64, u64, y ? x % y : ~0ull)
ROW2(sdiv64, i64, i64, y == 0 ? -1 : y == -1 ? (i64)(0 - (u64)x) : x / y)
ROW2(srem64, i64, i64, y == 0 ? -1 : y == -1 ? 0 : x % y)

static void permute32(u32 *o, const u32 *a, const u32 *b, const u32 *c, u32 n) {
  (void)c, (void)n;
  ALL_LANES(l) o[l] = a[b[l] & 31];
}

void simt_load(void), simt_store(void), simt_atomic(void);
void *const simt_functions[] = {
    (void *)simt_load, (void *)simt_store, (void *)simt_atomic, 0, 0, 0, 0, 0,
    (void *)udiv32, (void *)sdiv32, (void *)urem32, (void *)srem32, (void *)udiv64, (void *)sdiv64, (void *)urem64, (void *)srem64, (void *)permute32,
};
