/* What a warp access costs: sectors, wavefronts, and small caches on the blocks that are watched. */
#include "simt.h"

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

/* The largest number of different words in one of 32 banks. */
static u32 degree(const u32 *word, u32 n) {
  u32 seen = 0, twice = 0;
  for (u32 i = 0; i < n; i++) {
    u32 bit = 1u << (word[i] & 31);
    twice |= seen & bit;
    seen |= bit;
  }
  if (!twice) return n ? 1 : 0;
  u32 rows[32][WARP], used[32] = {0}, most = 1;
  for (u32 i = 0; i < n; i++) {
    u32 bank = word[i] & 31, known = 0;
    for (u32 k = 0; k < used[bank]; k++) known |= rows[bank][k] == word[i];
    if (known) continue;
    rows[bank][used[bank]++] = word[i];
    if (used[bank] > most) most = used[bank];
  }
  return most;
}

/* Wavefronts of a shared-memory access: a request is cut so that no part asks for more than 128 bytes, and each part
   takes as many turns as its busiest bank has different words. */
u32 simt_wavefronts(const u64 *offset, u32 mask, u32 bytes) {
  u32 words = (bytes + 3) / 4, lanes = words >= 4 ? 8 : words == 2 ? 16 : words == 3 ? 8 : 32, total = 0;
  for (u32 first = 0; first < WARP; first += lanes) {
    u32 word[WARP * 4], n = 0;
    u32 part = lanes == 32 ? mask : mask >> first & ((1u << lanes) - 1);
    EACH_LANE(l, part) for (u32 k = 0; k < words && k < 4; k++) word[n++] = (u32)(offset[first + l] >> 2) + k;
    /* At most 32 words: lanes * words <= 32, or a part of it. */
    if (n) total += degree(word, n < 32 ? n : 32);
  }
  return total ? total : 1;
}
