/* How many different numbers a warp's lanes have. */
#ifndef KERNELWRIGHT_DIFFERENT_H
#define KERNELWRIGHT_DIFFERENT_H

#include "simt.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef u32 v8 __attribute__((vector_size(32)));
typedef u32 v32 __attribute__((vector_size(4 * WARP)));
typedef _Bool b32 __attribute__((ext_vector_type(WARP)));

/* Lets the compiler read an array anew: else it puts rows that are read at odd places together number by number, from what it has in
   registers. */
#define IN_MEMORY(array) __asm__ volatile("" : : "r"(array) : "memory")

/* A number for each lane. */
#define FOR_EIGHT(f, l) f(l), f(l + 1), f(l + 2), f(l + 3), f(l + 4), f(l + 5), f(l + 6), f(l + 7)
#define FOR_LANES(f) {FOR_EIGHT(f, 0), FOR_EIGHT(f, 8), FOR_EIGHT(f, 16), FOR_EIGHT(f, 24)}

/* The lanes for which something is true. */
#define bits_of(condition) \
  ({                                                       \
    b32 bits = __builtin_convertvector((condition), b32);  \
    u32 found;                                             \
    memcpy(&found, &bits, sizeof found);                   \
    found;                                                 \
  })

/* All bits of the lanes of ``mask``. */
static inline v32 lanes_of(u32 mask) {
#define BIT(l) 1u << (l)
  const v32 bit = FOR_LANES(BIT);
#undef BIT
  return (v32)((bit & mask) != 0);
}

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

typedef u16 row16 __attribute__((vector_size(2 * WARP)));
typedef u16 half16 __attribute__((vector_size(WARP)));

/* The lanes whose number an earlier one has. Lanes that do not count have the largest number. Halves of a warp are two groups of eight lanes
   side by side; each is turned, so that every lane meets those before it: it takes no memory, where rows read at odd places would
   have to wait for what was written to them. */
#define EACH_OF_16(f, k) f(0, k), f(1, k), f(2, k), f(3, k), f(4, k), f(5, k), f(6, k), f(7, k), \
                         f(8, k), f(9, k), f(10, k), f(11, k), f(12, k), f(13, k), f(14, k), f(15, k)
#define TURNED(p, k) ((((p) - (k)) & 7) | ((p) & 8))
#define BEHIND(p, k) (((p) & 7) < (k) ? (p) : 16 + (p) - (k))
#define LOWER(p, k) ((p) < 8 ? (p) : 8 + (p))
#define OTHER(p, k) ((p) ^ 8)
#define MOVED(a, b, f, k) __builtin_shufflevector(a, b, EACH_OF_16(f, k))
#define FIRST_TURN(k)                                          \
  again_low |= (half16)(low == MOVED(low_first, low_first, TURNED, k));    \
  again_high |= (half16)(high == MOVED(high_first, high_first, TURNED, k)); \
  again_high |= (half16)(high == MOVED(low, low, TURNED, k));              \
  again_high |= (half16)(high == MOVED(low_other, low_other, TURNED, k));
#define TURN(k)                                             \
  FIRST_TURN(k)                                             \
  again_low |= (half16)(low == MOVED(none, low, BEHIND, k)); \
  again_high |= (half16)(high == MOVED(none, high, BEHIND, k));
static inline row16 again16(row16 all) {
  half16 low, high, none = (half16){0} - 1, again_low = {0}, again_high = {0};
  memcpy(&low, &all, sizeof low), memcpy(&high, (u8 *)&all + sizeof low, sizeof high);
  half16 low_first = MOVED(none, low, LOWER, 0), high_first = MOVED(none, high, LOWER, 0), low_other = MOVED(low, low, OTHER, 0);
  FIRST_TURN(0) TURN(1) TURN(2) TURN(3) TURN(4) TURN(5) TURN(6) TURN(7)
  return __builtin_shufflevector(again_low, again_high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}

static inline v32 again32(v32 all) {
  v8 row[2 * WARP / 8], known[WARP / 8];
  memset(row, 0xFF, sizeof row / 2);
  memcpy(row + WARP / 8, &all, sizeof all);
  IN_MEMORY(row);
  for (u32 p = 0; p < WARP / 8; p++) {
    v8 own = row[WARP / 8 + p], earlier, found = {0};
    for (u32 far = 1; far < 8 * (p + 1); far++) {
      memcpy(&earlier, (u32 *)(row + WARP / 8 + p) - far, sizeof earlier);
      found |= (v8)(own == earlier);
    }
    known[p] = found;
  }
  memcpy(&all, known, sizeof all);
  return all;
}

/* The lanes of ``mask`` whose number, of at most ``most``, no earlier one has; those that do not count have the largest number. */
static inline u32 firsts_of_many(v32 numbers, u32 most, u32 mask) {
  if (most >= 65535) return mask & ~bits_of(again32(numbers) != 0);
  return mask & ~bits_of(again16(__builtin_convertvector(numbers, row16)) != 0);
}

/* The lanes of ``mask`` whose number no earlier one has. Numbers are below 2^31. */
static inline u32 firsts(v32 numbers, u32 mask) {
  if (__builtin_popcount(mask) <= FEW_LANES) {
    u32 each[WARP], again = 0;
    memcpy(each, &numbers, sizeof each);
    EACH_LANE(l, mask) again |= equal(numbers, each[l]) & ~1u << l;
    return mask & ~again;
  }
  v32 lanes = lanes_of(mask);
  return firsts_of_many(numbers | ~lanes, __builtin_reduce_max(numbers & lanes), mask);
}

static inline u32 different(v32 numbers, u32 mask) {
  if (__builtin_popcount(mask) <= FEW_LANES) return (u32)__builtin_popcount(firsts(numbers, mask));
  v32 lanes = lanes_of(mask);
  u32 least = __builtin_reduce_min(numbers | ~lanes), most = __builtin_reduce_max(numbers & lanes);
  numbers -= least;
  if (most - least < 32) {
    /* Numbers that lie close together are bits of a word. */
    v32 one = {0}, bit;
    one += 1, bit = (one << (numbers & 31)) & lanes;
    return (u32)__builtin_popcount(__builtin_reduce_or(bit));
  }
  return (u32)__builtin_popcount(firsts_of_many(numbers | ~lanes, most - least, mask));
}
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
