/* Accesses whose addresses run evenly along the lanes, made by one call each: code that must be ready soon has these calls
   where code that runs for long has the lines of inline.py. Both count the same.

   one: every lane reads the number at one address.
   two: the lanes of each half of a warp do.
   row: the lanes of a segment touch neighbouring numbers, from ``base`` of the segment's lane 0 on; at most two segments. */
#include "simt.h"


/* -- one ------------------------------------------------------------------------------------------------------------- */

/* Numbers wider than a word are read half a warp at a time: one turn for each half with active lanes. */
INLINED i64 halves(u32 mask) { return (mask >> 16 != 0) + ((mask & 0xFFFF) != 0) - 1; }

INLINED u64 one(simt_context *c, simt_site *s, u64 address, u32 mask, u32 space, u32 size) {
  s = c->true_sites + s->index;
  u64 start = space == SHARED ? 0 : s->start, bytes = space == SHARED ? c->shared_size : s->end - s->start;
  u64 value = 0;
  if (!c->attention && mask && bytes >= size && address - start <= bytes - size && !(address & (s->access->align - 1u))) {
    memcpy(&value, (const u8 *)((space == SHARED ? c->shared_host : 0) + address), size);
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

/* -- two ------------------------------------------------------------------------------------------------------------- */

/* The numbers are put where the first lanes of the halves have theirs; one of a half without active lanes may be anything. */
INLINED void two(simt_context *c, simt_site *s, u64 first, u64 second, u32 mask, u8 *data, u32 space, u32 size) {
  s = c->true_sites + s->index;
  u64 rem[2] = {first, second};
  u64 start = space == SHARED ? 0 : s->start, bytes = space == SHARED ? c->shared_size : s->end - s->start;
  u32 low = (mask & 0xFFFF) != 0, high = mask >> 16 != 0, good = !c->attention && bytes >= size && (space != SHARED || size == 4);
  good &= !low || (first - start <= bytes - size && !(first & (s->access->align - 1u)));
  good &= !high || (second - start <= bytes - size && !(second & (s->access->align - 1u)));
  if (!good || s->access->align < size) {
    simt_load(c, s, rem, NULL, mask, data);
    return;
  }
  u64 host = space == SHARED ? c->shared_host : 0;
  if (low) memcpy(data, (const u8 *)(host + first), size);
  if (high) memcpy(data + 16 * size, (const u8 *)(host + second), size);
  if (!c->counting || !low || !high) return;
  if (space == SHARED) s->waves += first != second && !((first ^ second) & 124);
  else if (s->access->is_constant) s->serial += first >> 2 != second >> 2;
  else s->sectors += first >> 5 != second >> 5;
}

#define TWO(space_name, space, size)                                                                                          \
  void simt_two_##space_name##size(simt_context *c, simt_site *s, u64 first, u64 second, u32 mask, void *data) {              \
    two(c, s, first, second, mask, data, space, size);                                                                        \
  }
#define TWOS(space_name, space) TWO(space_name, space, 1) TWO(space_name, space, 2) TWO(space_name, space, 4) TWO(space_name, space, 8)
TWOS(global, GENERIC)
TWOS(shared, SHARED)

/* -- row ------------------------------------------------------------------------------------------------------------- */

/* What follows is written for ``n`` segments of ``lanes`` lanes, which are known where it is used. */

/* The lanes of segment ``g``, moved to the lowest bits. */
INLINED u32 part_of(u32 mask, u32 g, u32 lanes) { return lanes == 32 ? mask : mask >> (g * lanes) & ((1u << lanes) - 1); }

/* How many groups of ``lanes`` bits are not empty. */
INLINED i64 groups(u64 bits, u32 lanes) {
  u64 heads = 0;
  for (u32 i = 0; i < 64; i += lanes) heads |= 1ull << i;
  for (u32 step = lanes / 2; step; step /= 2) bits |= bits >> step;
  return __builtin_popcountll(bits & heads);
}

/* Sectors that the active lanes touch. Two segments whose sectors may meet are laid over one another. */
INLINED i64 row_sectors(const u64 *base, u32 mask, u32 size, u32 n, u32 lanes) {
  u32 each = 32 / size;
  u64 part[2] = {0, 0}, skew[2], sector[2];
  for (u32 g = 0; g < n; g++) part[g] = part_of(mask, g, lanes), skew[g] = (base[g] & 31) / size, sector[g] = base[g] >> 5;
  if (!part[1]) return groups(part[0] << skew[0], each);
  if (!part[0]) return groups(part[1] << skew[1], each);
  u32 low = sector[1] < sector[0], high = !low;
  u64 between = (sector[high] - sector[low]) * each;
  if (between < skew[low] + lanes) return groups(part[low] << skew[low] | part[high] << (skew[high] + between), each);
  return groups(part[0] << skew[0], each) + groups(part[1] << skew[1], each);
}

INLINED i64 row_waves(const u64 *base, u32 mask, u32 size, u32 n, u32 lanes) {
  if (size == 8) return halves(mask) + 1;
  if (n == 1 || base[0] == base[1] || ((base[1] - base[0]) & 127) == 64) return 1;
  if (!part_of(mask, 0, lanes) || !part_of(mask, 1, lanes)) return 1;
  u32 offset[WARP];
  ALL_LANES(l) offset[l] = (u32)(base[l >> 4] + (l & 15) * size);
  return simt_waves(offset, mask, size);
}

/* The lanes of one segment; where all their places are in the buffer, the inactive ones' are read too, or written back. */
INLINED void move_part(u8 *memory, u8 *data, u32 part, u32 lanes, u32 size, u32 all_inside, u32 store) {
  u32 whole = part == part_of(~0u, 0, lanes);
  if (all_inside && (whole || !store)) {
    if (store) memcpy(memory, data, lanes * size);
    else memcpy(data, memory, lanes * size);
  } else if (all_inside && size == 4) {
    u32 *to = (u32 *)memory, *from = (u32 *)data;
    for (u32 l = 0; l < lanes; l++) to[l] = part >> l & 1 ? from[l] : to[l];
  } else {
    EACH_LANE(l, part) memcpy((store ? memory : data) + l * size, (store ? data : memory) + l * size, size);
  }
}

INLINED u32 row(simt_context *c, simt_site *s, const u64 *base, u32 mask, u8 *data, u32 space, u32 size, u32 store, u32 n, u32 lanes) {
  u64 start = space == SHARED ? 0 : s->start, bytes = space == SHARED ? c->shared_size : s->end - s->start;
  if (c->attention || !mask || bytes < size || (store && space != SHARED && !s->writable)) return 0;
  u64 room = bytes - size, host = space == SHARED ? c->shared_host : 0, low_bits = s->access->align - 1u;
  u32 all_inside = bytes >= lanes * size, bad = 0;
  for (u32 g = 0; g < n; g++) {
    u32 part = part_of(mask, g, lanes), first = (u32)__builtin_ctz(part | 1u << 31), last = 31 - (u32)__builtin_clz(part | 1);
    u64 from = base[g] - start;
    bad |= part && ((from + first * size > room) | (from + last * size > room) | ((base[g] & low_bits) != 0));
    all_inside &= !part || from <= bytes - lanes * size;
  }
  if (bad) return 0;
  for (u32 g = 0; g < n; g++) {
    u32 part = part_of(mask, g, lanes);
    /* Where other blocks run at the same time, what an inactive lane writes back may be theirs. */
    u32 apart = store && space != SHARED && c->spread && part != part_of(~0u, 0, lanes);
    if (n == 1 || part) move_part((u8 *)(host + base[g]), data + g * lanes * size, part, lanes, size, all_inside && !apart, store);
  }
  if (!c->counting) return 1;
  if (space == SHARED) s->waves += row_waves(base, mask, size, n, lanes) - 1;
  else s->sectors += row_sectors(base, mask, size, n, lanes) - 1;
  return 1;
}

/* The addresses of lane 0 where an index is extended to 64 bits: reckoned back from the first active lane, as no lane
   between that and the last one wraps; 0 when one does. */
INLINED u32 extended(const simt_access *a, u64 *base, const i32 *root, u32 mask, u32 n, u32 lanes) {
  i64 step = a->root_stride, bad = 0;
  for (u32 g = 0; g < n; g++) {
    u32 part = part_of(mask, g, lanes), first = (u32)__builtin_ctz(part | 1u << 31), last = 31 - (u32)__builtin_clz(part | 1);
    u32 near = (u32)root[g] + first * (u32)step, far = (u32)root[g] + last * (u32)step;
    i64 from = a->zero_extend ? (i64)near : (i64)(i32)near, to = a->zero_extend ? (i64)far : (i64)(i32)far;
    bad |= part ? to - from - (i64)(last - first) * step : 0;
    base[g] += (u64)a->coefficient * (u64)(from - (i64)first * step);
  }
  return !bad;
}

INLINED u32 any_row(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data, u32 space, u32 size, u32 store) {
  const simt_access *a = s->access;
  u64 base[2] = {rem[0], rem[1]};
#define TRY(n, lanes) ((!root || extended(a, base, root, mask, n, lanes)) && row(c, s, base, mask, data, space, size, store, n, lanes))
  if (a->segment_lanes == 32) return TRY(1, 32);
  if (a->segments == 1) return TRY(1, 16);
  return a->segments == 2 && TRY(2, 16);
}

#define ROW(kind, write, space_name, space, size)                                                                              \
  void simt_row_##kind##_##space_name##size(simt_context *c, simt_site *s, u64 first, u64 second, u32 mask, void *data) {      \
    u64 rem[2] = {first, second};                                                                                              \
    s = c->true_sites + s->index;                                                                                              \
    if (!any_row(c, s, rem, NULL, mask, data, space, size, write)) simt_##kind(c, s, rem, NULL, mask, data);                   \
  }                                                                                                                            \
  void simt_indexed_row_##kind##_##space_name##size(simt_context *c, simt_site *s, u64 first, u64 second, i32 root, i32 other, \
                                                    u32 mask, void *data) {                                                    \
    u64 rem[2] = {first, second};                                                                                              \
    i32 roots[2] = {root, other};                                                                                              \
    s = c->true_sites + s->index;                                                                                              \
    if (!any_row(c, s, rem, roots, mask, data, space, size, write)) simt_##kind(c, s, rem, roots, mask, data);                 \
  }
#define ROWS(kind, write, space_name, space) \
  ROW(kind, write, space_name, space, 1)     \
  ROW(kind, write, space_name, space, 2)     \
  ROW(kind, write, space_name, space, 4)     \
  ROW(kind, write, space_name, space, 8)
ROWS(load, 0, global, GENERIC)
ROWS(store, 1, global, GENERIC)
ROWS(load, 0, shared, SHARED)
ROWS(store, 1, shared, SHARED)
