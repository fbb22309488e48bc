/* How many different numbers a warp's lanes have. */
#ifndef KERNELWRIGHT_DIFFERENT_H
#define KERNELWRIGHT_DIFFERENT_H

#include "simt.h"
#ifdef __AVX512CD__
#include <immintrin.h>
#endif

typedef u32 v8 __attribute__((vector_size(32)));
typedef u32 v32 __attribute__((vector_size(4 * WARP)));
typedef _Bool b32 __attribute__((ext_vector_type(WARP)));

/* The lanes for which something is true. */
#define bits_of(condition) \
  ({                                                       \
    b32 bits = __builtin_convertvector((condition), b32);  \
    u32 found;                                             \
    memcpy(&found, &bits, sizeof found);                   \
    found;                                                 \
  })

/* The lanes whose number is ``x``. */
static inline u32 equal(v32 numbers, u32 x) { return bits_of(numbers == x); }

#ifdef __AVX512CD__
#define LANES_OF_HALF _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

static inline void halves_of(const u32 *numbers, __m512i *a, __m512i *b) {
  memcpy(a, numbers, sizeof *a), memcpy(b, numbers + 16, sizeof *b);
}

/* The numbers of the lanes of ``mask``, at most 16, side by side in one register. */
static inline __m512i packed(__m512i a, __m512i b, u32 mask) {
  __m512i lane = LANES_OF_HALF;
  __mmask16 low = (__mmask16)mask, high = (__mmask16)(mask >> 16);
  i32 n_low = __builtin_popcount(low);
  __m512i behind = _mm512_add_epi32(lane, _mm512_set1_epi32(16 - n_low));
  __m512i from = _mm512_mask_mov_epi32(lane, _mm512_cmpge_epi32_mask(lane, _mm512_set1_epi32(n_low)), behind);
  return _mm512_permutex2var_epi32(_mm512_maskz_compress_epi32(low, a), from, _mm512_maskz_compress_epi32(high, b));
}

/* Of the first ``n`` places of a register, those whose number no earlier one has. */
static inline u32 firsts_packed(__m512i all, u32 n) {
  __m512i again = _mm512_conflict_epi32(all);
  return _mm512_testn_epi32_mask(again, again) & ((1u << n) - 1);
}

/* The lanes of ``mask`` whose number no earlier one has. Numbers are below 2^31. */
static inline u32 firsts_of(__m512i a, __m512i b, u32 mask) {
  __mmask16 low = (__mmask16)mask, high = (__mmask16)(mask >> 16);
  u32 first_a = _mm512_testn_epi32_mask(_mm512_conflict_epi32(a), _mm512_set1_epi32((int)low)) & low;
  u32 first_b = _mm512_testn_epi32_mask(_mm512_conflict_epi32(b), _mm512_set1_epi32((int)high)) & high, known = 0;
  a = _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), low, a);
  for (u32 i = 0; i < 16; i++) {
    known |= _mm512_cmpeq_epi32_mask(a, b);
    a = _mm512_alignr_epi32(a, a, 1);
  }
  return first_a | (first_b & ~known) << 16;
}

/* How many different numbers the lanes of ``mask`` have. Numbers are below 2^31. */
static inline u32 different(v32 numbers, u32 mask) {
  __m512i a, b;
  halves_of((const u32 *)&numbers, &a, &b);
  u32 n = (u32)__builtin_popcount(mask);
  return (u32)__builtin_popcount(n <= 16 ? firsts_packed(packed(a, b, mask), n) : firsts_of(a, b, mask));
}
#else
/* Up to so many lanes are looked at one after the other. */
#define FEW_LANES 6

/* The lanes of ``mask`` whose number no earlier one has. Numbers are below 2^31. */
static inline u32 firsts(v32 numbers, u32 mask) {
  u32 again = 0, active[WARP];
  if (__builtin_popcount(mask) <= FEW_LANES) {
    u32 each[WARP];
    memcpy(each, &numbers, sizeof each);
    EACH_LANE(l, mask) again |= equal(numbers, each[l]) & ~1u << l;
    return mask & ~again;
  }
  /* Every lane is compared with those before it: they lie before it in memory. */
  v8 row[2 * WARP / 8];
  ALL_LANES(l) active[l] = -(mask >> l & 1);
  v32 lanes;
  memcpy(&lanes, active, sizeof lanes);
  numbers |= ~lanes;
  memset(row, 0xFF, sizeof row / 2);
  memcpy(row + WARP / 8, &numbers, sizeof numbers);
  v8 known[WARP / 8];
  for (u32 p = 0; p < WARP / 8; p++) {
    v8 own = row[WARP / 8 + p], earlier, found = {0};
    for (u32 far = 1; far < 8 * (p + 1); far++) {
      memcpy(&earlier, (u32 *)(row + WARP / 8 + p) - far, sizeof earlier);
      found |= (v8)(own == earlier);
    }
    known[p] = found;
  }
  v32 all;
  memcpy(&all, known, sizeof all);
  return mask & ~bits_of(all != 0);
}

static inline u32 different(v32 numbers, u32 mask) { return (u32)__builtin_popcount(firsts(numbers, mask)); }
#endif

/* Sectors of aligned numbers at offsets from an address whose low bits are ``skew``. */
static inline u32 sectors_of(const u32 *offset, u32 skew, u32 mask) {
  v32 all;
  memcpy(&all, offset, sizeof all);
  return different((all + skew) >> 5, mask);
}

/* Words of 4 bytes that offsets lie in. */
static inline u32 words_of(const u32 *offset, u32 mask) {
  v32 all;
  memcpy(&all, offset, sizeof all);
  return different(all >> 2, mask);
}

#endif
