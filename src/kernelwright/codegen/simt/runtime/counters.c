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

/* The largest number of different words in one of 32 banks; at most 32 words. */
static u32 degree(const u32 *word, u32 n) {
  u32 first[32], seen = 0, clash = 0;
  for (u32 i = 0; i < n; i++) {
    u32 bank = word[i] & 31, known = seen >> bank & 1;
    clash |= known & (first[bank] != word[i]);
    first[bank] = known ? first[bank] : word[i];
    seen |= 1u << bank;
  }
  if (!clash) return 1;
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

/* Sectors of aligned numbers at small offsets from an address whose low bits are ``skew``. Offsets of lanes that are not
   active are 0. */
u32 simt_sectors(const u32 *offset, u32 skew, u32 mask) {
  u32 sector[WARP], low = ~0u, high = 0;
  ALL_LANES(l) {
    u32 off = (mask >> l & 1) - 1;
    sector[l] = (offset[l] + skew) >> 5;
    u32 a = sector[l] | off, b = sector[l] & ~off;
    low = a < low ? a : low;
    high = b > high ? b : high;
  }
  if (high - low < 64) {
    u64 seen = 0;
    ALL_LANES(l) seen |= (u64)(mask >> l & 1) << ((sector[l] - low) & 63);
    return (u32)__builtin_popcountll(seen);
  }
  u32 n = 0;
  for (u32 left = mask; left; n++) {
    u32 one = sector[__builtin_ctz(left)], same = 0;
    ALL_LANES(l) same |= (u32)(sector[l] == one) << l;
    left &= ~same;
  }
  return n;
}

/* Wavefronts: a request is cut so that no part asks for more than 128 bytes, and each part takes as many turns as its
   busiest bank has different words. */
u32 simt_waves(const u32 *offset, u32 mask, u32 bytes) {
  u32 words = (bytes + 3) / 4;
  if (words == 1) {
    u32 seen = 0;
    ALL_LANES(l) seen |= (mask >> l & 1) << ((offset[l] >> 2) & 31);
    if (__builtin_popcount(seen) == __builtin_popcount(mask)) return 1;
    u32 word[WARP], n = 0;
    EACH_LANE(l, mask) word[n++] = offset[l] >> 2;
    return n ? degree(word, n) : 1;
  }
  u32 lanes = words >= 3 ? 8 : 16, total = 0;
  for (u32 first = 0; first < WARP; first += lanes) {
    u32 word[WARP * 4], n = 0;
    u32 part = mask >> first & ((1u << lanes) - 1);
    EACH_LANE(l, part) for (u32 k = 0; k < words && k < 4; k++) word[n++] = (offset[first + l] >> 2) + k;
    if (n) total += degree(word, n);
  }
  return total ? total : 1;
}

u32 simt_wavefronts(const u64 *offset, u32 mask, u32 bytes) {
  u32 narrow[WARP];
  ALL_LANES(l) narrow[l] = (u32)offset[l];
  return simt_waves(narrow, mask, bytes);
}
