/* Accesses whose addresses run evenly along the lanes, made by one call each: code that must be ready soon has these calls
   where code that runs for long has the lines of inline.py. Both count the same.

   one: every lane reads the number at one address.
   row: the lanes of a segment touch neighbouring numbers, from ``base`` of the segment's lane 0 on; at most two segments. */
#include "simt.h"

#define ALWAYS static inline __attribute__((always_inline))

/* -- one ------------------------------------------------------------------------------------------------------------- */

/* Numbers wider than a word are read half a warp at a time: one turn for each half with active lanes. */
ALWAYS i64 halves(u32 mask) { return (mask >> 16 != 0) + ((mask & 0xFFFF) != 0) - 1; }

ALWAYS u64 one(simt_context *c, simt_site *s, u64 address, u32 mask, u32 space, u32 size) {
  s = c->true_sites + s->index;
  u64 start = space == SHARED ? 0 : s->start, bytes = space == SHARED ? c->shared_size : s->end - s->start;
  u64 value = 0;
  if (!c->attention && mask && bytes >= size && address - start <= bytes - size && !(address & (s->access->align - 1u))) {
    memcpy(&value, (const u8 *)(space == SHARED ? c->shared_host : 0) + address, size);
    if (space == SHARED && size == 8 && c->counting) s->waves += halves(mask);
    return value;
  }
  u128 row[WARP];
  simt_load(c, s, &address, NULL, mask, row);
  memcpy(&value, row, size);
  return value;
}

#define ONE(space_name, space, size) \
  u64 simt_one_##space_name##size(simt_context *c, simt_site *s, u64 address, u32 mask) { return one(c, s, address, mask, space, size); }
#define ONES(space_name, space) ONE(space_name, space, 1) ONE(space_name, space, 2) ONE(space_name, space, 4) ONE(space_name, space, 8)
ONES(global, GENERIC)
ONES(shared, SHARED)

/* -- row ------------------------------------------------------------------------------------------------------------- */

/* The lanes of segment ``g``, moved to the lowest bits. */
ALWAYS u32 part_of(const simt_access *a, u32 mask, u32 g) {
  return a->segment_lanes == 32 ? mask : mask >> (g * a->segment_lanes) & ((1u << a->segment_lanes) - 1);
}

/* How many groups of ``lanes`` bits are not empty. */
ALWAYS i64 groups(u64 bits, u32 lanes) {
  u64 heads = 0;
  for (u32 i = 0; i < 64; i += lanes) heads |= 1ull << i;
  for (u32 step = lanes / 2; step; step /= 2) bits |= bits >> step;
  return __builtin_popcountll(bits & heads);
}

/* Sectors that the active lanes touch. Two segments whose sectors may meet are laid over one another. */
ALWAYS i64 row_sectors(const simt_access *a, const u64 *base, u32 mask, u32 size) {
  u32 lanes = 32 / size, n = a->segments;
  u64 part[2], skew[2], sector[2];
  for (u32 g = 0; g < n; g++) part[g] = part_of(a, mask, g), skew[g] = (base[g] & 31) / size, sector[g] = base[g] >> 5;
  if (n == 1 || !part[1]) return groups(part[0] << skew[0], lanes);
  if (!part[0]) return groups(part[1] << skew[1], lanes);
  u32 low = sector[1] < sector[0], high = !low;
  u64 between = (sector[high] - sector[low]) * lanes;
  if (between < skew[low] + a->segment_lanes)
    return groups(part[low] << skew[low] | part[high] << (skew[high] + between), lanes);
  return groups(part[0] << skew[0], lanes) + groups(part[1] << skew[1], lanes);
}

ALWAYS i64 row_waves(const simt_access *a, const u64 *base, u32 mask, u32 size) {
  if (size == 8) return halves(mask) + 1;
  if (a->segments == 1 || base[0] == base[1] || ((base[1] - base[0]) & 127) == 64 || !part_of(a, mask, 0) || !part_of(a, mask, 1)) return 1;
  u32 offset[WARP];
  ALL_LANES(l) offset[l] = (u32)(base[l >> 4] + (l & 15) * size);
  return simt_waves(offset, mask, size);
}

/* The lanes of one segment; where all their places are in the buffer, the inactive ones' are read too, or written back. */
ALWAYS void move_part(u8 *memory, u8 *data, u32 part, u32 lanes, u32 size, u32 all_inside, u32 store) {
  u32 whole = lanes == 32 ? part == ~0u : part == (1u << lanes) - 1;
  if (whole || (all_inside && !store)) {
    if (store) memcpy(memory, data, lanes * size);
    else memcpy(data, memory, lanes * size);
  } else if (all_inside && size == 4) {
    u32 *to = (u32 *)memory;
    for (u32 l = 0; l < lanes; l++) {
      u32 old, new;
      memcpy(&old, to + l, 4), memcpy(&new, data + 4 * l, 4);
      new = part >> l & 1 ? new : old;
      memcpy(to + l, &new, 4);
    }
  } else {
    EACH_LANE(l, part) memcpy((store ? memory : data) + l * size, (store ? data : memory) + l * size, size);
  }
}

ALWAYS u32 row(simt_context *c, simt_site *s, const u64 *base, u32 mask, u8 *data, u32 space, u32 size, u32 store) {
  const simt_access *a = s->access;
  u64 start = space == SHARED ? 0 : s->start, bytes = space == SHARED ? c->shared_size : s->end - s->start;
  if (c->attention || !mask || bytes < size || (store && space != SHARED && !s->writable)) return 0;
  u64 room = bytes - size, host = space == SHARED ? c->shared_host : 0;
  u32 n = a->segments, lanes = a->segment_lanes;
  for (u32 g = 0; g < n; g++) {
    u32 part = part_of(a, mask, g);
    if (!part) continue;
    u64 from = base[g] - start, first = from + (u32)__builtin_ctz(part) * size, last = from + (31 - (u32)__builtin_clz(part)) * size;
    if (first > room || last > room || (base[g] & (a->align - 1u))) return 0;
  }
  for (u32 g = 0; g < n; g++) {
    u32 part = part_of(a, mask, g);
    if (!part) continue;
    u32 all_inside = bytes >= lanes * size && base[g] - start <= bytes - lanes * size;
    if (lanes == 32) move_part((u8 *)(host + base[g]), data, part, 32, size, all_inside, store);
    else move_part((u8 *)(host + base[g]), data + g * 16 * size, part, 16, size, all_inside, store);
  }
  if (!c->counting) return 1;
  if (space == SHARED) s->waves += row_waves(a, base, mask, size) - 1;
  else s->sectors += row_sectors(a, base, mask, size) - 1;
  return 1;
}

/* The addresses of lane 0 where an index is extended to 64 bits: reckoned back from the first active lane, as no lane
   between that and the last one wraps; 0 when one does. */
ALWAYS u32 extended(const simt_access *a, const u64 *rem, const i32 *root, u32 mask, u64 *base) {
  for (u32 g = 0; g < a->segments; g++) {
    u32 part = part_of(a, mask, g);
    base[g] = 0;
    if (!part) continue;
    u32 first = (u32)__builtin_ctz(part), last = 31 - (u32)__builtin_clz(part), step = (u32)a->root_stride;
    u32 near = (u32)root[g] + first * step, far = (u32)root[g] + last * step;
    i64 from = a->zero_extend ? (i64)near : (i64)(i32)near, to = a->zero_extend ? (i64)far : (i64)(i32)far;
    if (to != from + (i64)(last - first) * a->root_stride) return 0;
    base[g] = rem[g] + (u64)a->coefficient * (u64)(from - (i64)first * a->root_stride);
  }
  return 1;
}

#define ROW(kind, write, space_name, space, size)                                                                                \
  void simt_row_##kind##_##space_name##size(simt_context *c, simt_site *s, u64 first, u64 second, u32 mask, void *data) {        \
    u64 rem[2] = {first, second};                                                                                                \
    if (!row(c, c->true_sites + s->index, rem, mask, data, space, size, write)) simt_##kind(c, s, rem, NULL, mask, data);         \
  }                                                                                                                              \
  void simt_indexed_row_##kind##_##space_name##size(simt_context *c, simt_site *s, u64 first, u64 second, i32 root, i32 other,   \
                                                    u32 mask, void *data) {                                                      \
    u64 rem[2] = {first, second}, base[2];                                                                                       \
    i32 roots[2] = {root, other};                                                                                                \
    s = c->true_sites + s->index;                                                                                                \
    if (!extended(s->access, rem, roots, mask, base) || !row(c, s, base, mask, data, space, size, write))                        \
      simt_##kind(c, s, rem, roots, mask, data);                                                                                 \
  }
#define ROWS(kind, write, space_name, space) ROW(kind, write, space_name, space, 1) ROW(kind, write, space_name, space, 2) \
  ROW(kind, write, space_name, space, 4) ROW(kind, write, space_name, space, 8)
ROWS(load, 0, global, GENERIC)
ROWS(store, 1, global, GENERIC)
ROWS(load, 0, shared, SHARED)
ROWS(store, 1, shared, SHARED)
