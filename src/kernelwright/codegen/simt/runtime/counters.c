/* What a warp access costs: sectors, wavefronts, and small caches on the blocks that are watched. */
#include "different.h"

/* 32-byte sectors that the lanes of ``mask`` touch, each counted once. */
u32 simt_distinct_sectors(const u64 *address, u32 mask, u32 bytes) {
  u64 low = ~0ull, high = 0;
  u64 last = bytes - 1;
  ALL_LANES(l) {
    u64 first_sector = address[l] >> 5, last_sector = (address[l] + last) >> 5;
    u64 on = -(u64)(mask >> l & 1);
    u64 a = first_sector | ~on, b = last_sector & on;
    low = a < low ? a : low;
    high = b > high ? b : high;
  }
  if (high - low < 64) {
    u64 seen = 0;
    ALL_LANES(l) {
      u64 on = mask >> l & 1;
      seen |= on << (((address[l] >> 5) - low) & 63) | on << ((((address[l] + last) >> 5) - low) & 63);
    }
    return (u32)__builtin_popcountll(seen);
  }
  u64 distinct[2 * WARP];
  u32 n = 0;
  EACH_LANE(l, mask) {
    for (u64 sector = address[l] >> 5; sector <= (address[l] + last) >> 5; sector++) {
      u32 known = 0;
      for (u32 k = 0; k < n; k++) known |= distinct[k] == sector;
      distinct[n] = sector;
      n += !known;
      if (n == 2 * WARP) return n;
    }
  }
  return n;
}

/* How many of the lanes of ``mask`` share one number below 2^31, at most. */
static inline u32 most_alike(const u32 *numbers, u32 mask) {
  v32 all;
  memcpy(&all, numbers, sizeof all);
  u32 most = 0;
#ifndef __AVX512CD__
  if (__builtin_popcount(mask) > FEW_LANES) {
    /* Each is compared with all others, as they come around. */
    u32 around[2 * WARP];
    v32 lanes = lanes_of(mask), same = {0}, other;
    all |= ~lanes;
    memcpy(around, &all, sizeof all), memcpy(around + WARP, &all, sizeof all);
    IN_MEMORY(around);
    for (u32 far = 0; far < WARP; far++) {
      memcpy(&other, around + far, sizeof other);
      same -= (v32)(all == other);
    }
    return __builtin_reduce_max(same & lanes);
  }
#endif
  EACH_LANE(l, mask) {
    u32 n = (u32)__builtin_popcount(equal(all, numbers[l]) & mask);
    most = n > most ? n : most;
  }
  return most;
}

/* The largest number of different words in one of 32 banks, of at most 32 words: in every turn each bank serves one. */
#ifdef __AVX512CD__
static u32 degree(const u32 *word, u32 mask) {
  u32 n = (u32)__builtin_popcount(mask), side_by_side[16], most = 0;
  u8 words[WARP] = {0};
  __m512i a, b;
  halves_of(word, &a, &b);
  if (n <= 16) {
    a = packed(a, b, mask);
    mask = firsts_packed(a, n);
    memcpy(side_by_side, &a, sizeof a);
    word = side_by_side;
  } else {
    mask = firsts_of(a, b, mask);
  }
  EACH_LANE(l, mask) {
    u32 now = ++words[word[l] & 31];
    most = now > most ? now : most;
  }
  return most;
}
#else
typedef u8 banks __attribute__((vector_size(WARP)));

/* Words below 65535, as those of shared memory are. */
static u32 degree_of_few(v32 word, u32 mask) {
  row16 lanes = __builtin_convertvector(lanes_of(mask), row16), all = __builtin_convertvector(word, row16) | ~lanes;
  /* The first lanes with their words are compared with each other by bank, as they come around. The rest have a bank of their own. */
  banks counts = __builtin_convertvector(lanes & ~again16(all), banks), bank = __builtin_convertvector(all & 31, banks), other, same = {0};
#define UNUSED(l) WARP + (l)
  const banks unused = FOR_LANES(UNUSED);
#undef UNUSED
  u8 around[2 * WARP];
  bank = (bank & counts) | (unused & ~counts);
  memcpy(around, &bank, sizeof bank), memcpy(around + WARP, &bank, sizeof bank);
  IN_MEMORY(around);
  for (u32 far = 0; far < WARP; far++) {
    memcpy(&other, around + far, sizeof other);
    same -= (banks)(bank == other);
  }
  return __builtin_reduce_max(same);
}

static u32 degree(const u32 *word, u32 mask) {
  v32 all;
  memcpy(&all, word, sizeof all);
  if (__builtin_reduce_max(all) < 65535) return degree_of_few(all, mask);
  mask = firsts(all, mask);
  u32 bank[WARP];
  ALL_LANES(l) bank[l] = word[l] & 31;
  return most_alike(bank, mask);
}
#endif

/* Turns that atomics at these offsets take beyond the first: lanes at one place go one after the other. */
u32 simt_turns(const u32 *offset, u32 mask) { return mask ? most_alike(offset, mask) - 1 : 0; }

u32 simt_sectors(const u32 *offset, u32 skew, u32 mask) { return sectors_of(offset, skew, mask); }

/* Wavefronts: a request is cut so that no part asks for more than 128 bytes, and each part takes as many turns as its
   busiest bank has different words. */
u32 simt_waves(const u32 *offset, u32 mask, u32 bytes) {
  u32 words = (bytes + 3) / 4, word[WARP];
  if (words == 1) {
    u32 seen = 0;
    ALL_LANES(l) {
      word[l] = offset[l] >> 2;
      seen |= (mask >> l & 1) << (word[l] & 31);
    }
    if (__builtin_popcount(seen) == __builtin_popcount(mask)) return 1;
    return mask ? degree(word, mask) : 1;
  }
  u32 lanes = words >= 3 ? 8 : 16, total = 0;
  for (u32 first = 0; first < WARP; first += lanes) {
    u32 n = 0, part = mask >> first & ((1u << lanes) - 1);
    EACH_LANE(l, part) for (u32 k = 0; k < words && k < 4; k++) word[n++] = (offset[first + l] >> 2) + k;
    if (n) total += degree(word, n == 32 ? ~0u : (1u << n) - 1);
  }
  return total ? total : 1;
}

u32 simt_wavefronts(const u64 *offset, u32 mask, u32 bytes) {
  u32 narrow[WARP];
  ALL_LANES(l) narrow[l] = (u32)offset[l];
  return simt_waves(narrow, mask, bytes);
}

/* The turns that a request takes whose lanes are served so many at a time, by the first word that each asks for. */
u32 simt_turns_of_parts(const u64 *offset, u32 mask, u32 lanes) {
  u32 total = 0, word[WARP];
  for (u32 first = 0; first < WARP; first += lanes) {
    u32 n = 0;
    for (u32 l = first; l < first + lanes; l++) if (mask >> l & 1) word[n++] = (u32)(offset[l] >> 2);
    if (n) total += degree(word, n == 32 ? ~0u : (1u << n) - 1);
  }
  return total ? total : 1;
}

/* Whether lanes that are side by side ask for different words, and so do those that are two apart: then a multiprocessor takes half the
   lanes of an 8-byte access at a time, a quarter of a 16-byte one; else twice as many (measured on an H100). */
u32 simt_neighbours_differ(const u64 *offset, u32 mask) {
  u32 apart[3] = {0, 0, 0};
  EACH_LANE(l, mask) for (u32 far = 1; far <= 2; far++) if (mask >> (l ^ far) & 1 && offset[l] != offset[l ^ far]) apart[far] = 1;
  return apart[1] && apart[2];
}
