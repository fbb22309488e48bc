/* Functions on rows of lanes: (result, a, b, c, n) with n = 1 for one number or 16 or 32 for a warp.

   Rows are arrays of 32; lanes that are not active hold anything, so no function may trap or loop on a value. */
#ifndef KERNELWRIGHT_ROWS_H
#define KERNELWRIGHT_ROWS_H

#include "simt.h"

#define ROW1(name, R, A, expression)                                             \
  void row_##name(R *o, const A *a, const void *b_, const void *c_, u32 n) {     \
    (void)b_, (void)c_;                                                          \
    if (n == 1) { A x = *a; *o = (R)(expression); return; }                      \
    ALL_LANES(l) { A x = a[l]; o[l] = (R)(expression); }                         \
  }

#define ROW2(name, R, A, B, expression)                                          \
  void row_##name(R *o, const A *a, const B *b, const void *c_, u32 n) {         \
    (void)c_;                                                                    \
    if (n == 1) { A x = *a; B y = *b; *o = (R)(expression); return; }            \
    ALL_LANES(l) { A x = a[l]; B y = b[l]; o[l] = (R)(expression); }             \
  }

#define ROW3(name, R, A, B, C, expression)                                            \
  void row_##name(R *o, const A *a, const B *b, const C *c, u32 n) {                  \
    if (n == 1) { A x = *a; B y = *b; C z = *c; *o = (R)(expression); return; }       \
    ALL_LANES(l) { A x = a[l]; B y = b[l]; C z = c[l]; o[l] = (R)(expression); }      \
  }

#endif
