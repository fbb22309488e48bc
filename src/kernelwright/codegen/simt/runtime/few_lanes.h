/* Accesses of at most eight lanes to one buffer of global memory, lane by lane: what all lanes of a warp take together takes longer. */
#ifndef KERNELWRIGHT_FEW_LANES_H
#define KERNELWRIGHT_FEW_LANES_H

#include "simt.h"

#define FEW 8

typedef struct {
  u32 n;
  u32 lane[FEW]; /* in order */
  u64 address[FEW];
} simt_few;

/* The address of one lane, as ``simt_addresses`` has it. */
static inline u64 simt_address_of(const simt_access *a, const u64 *rem, const i32 *root, u32 form, u32 l) {
  if (form == FORM_ADDRESSES) return rem[l];
  u32 segment = l >> (u32)__builtin_ctz(a->segment_lanes), within = l & (a->segment_lanes - 1u);
  u64 index = a->zero_extend ? (u64)(u32)root[l] : (u64)(i64)root[l];
  return rem[segment] + within * (u64)a->stride + (u64)a->coefficient * index;
}

/* The lanes of a mask, which is not empty and has at most FEW, and their addresses. Returns 0 where one is not aligned or not in the
   buffer that the access was in last. */
INLINED u32 simt_few_lanes(const simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 form, u32 size, simt_few *few) {
  const simt_access *a = s->access;
  u64 start = s->start, bytes = s->end - start, bad = 0, low_bits = a->align - 1u;
  if (bytes < size) return 0;
  u32 n = 0;
#define TAKE(l, found) { \
    u64 address = (found); \
    bad |= (u64)(address - start > bytes - size) | (address & low_bits); \
    few->lane[n] = l, few->address[n++] = address; \
  }
  if (form == FORM_INDEXED && a->segments == 1 && !a->stride) {
    u64 base = rem[0], coefficient = (u64)a->coefficient, kept = a->zero_extend ? 0xFFFFFFFFu : ~0ull;
    EACH_LANE(l, mask) TAKE(l, base + coefficient * ((u64)(i64)root[l] & kept))
  } else {
    EACH_LANE(l, mask) TAKE(l, simt_address_of(a, rem, root, form, l))
  }
#undef TAKE
  few->n = n;
  return !bad;
}

/* How many different pieces of ``1 << shift`` bytes they lie in. */
INLINED u32 simt_few_pieces(const simt_few *few, u32 shift) {
  u32 different = 1;
  for (u32 i = 1; i < few->n; i++) {
    u32 known = 0;
    for (u32 k = 0; k < i; k++) known |= (few->address[i] ^ few->address[k]) >> shift == 0;
    different += !known;
  }
  return different;
}

/* How many have one address, at most. */
static inline u32 simt_few_alike(const simt_few *few) {
  u32 most = 1;
  for (u32 i = 1; i < few->n; i++) {
    u32 same = 1;
    for (u32 k = 0; k < i; k++) same += few->address[i] == few->address[k];
    most = same > most ? same : most;
  }
  return most;
}

#endif
