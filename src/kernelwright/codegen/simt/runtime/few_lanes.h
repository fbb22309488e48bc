/* Accesses of at most eight lanes to one buffer of global memory, lane by lane and without branches: their number changes from one
   access to the next, and what all lanes of a warp take together takes longer. */
#ifndef KERNELWRIGHT_FEW_LANES_H
#define KERNELWRIGHT_FEW_LANES_H

#include "simt.h"

/* As many turns are taken for fewer lanes, and twice as many for more. */
#define FEW 4

typedef struct {
  u32 n;
  u32 lane[2 * FEW]; /* in order; the last one again where there are fewer */
  u64 address[2 * FEW];
} simt_few;

/* The address of one lane, as ``simt_addresses`` has it. */
static inline u64 simt_address_of(const simt_access *a, const u64 *rem, const i32 *root, u32 form, u32 l) {
  if (form == FORM_ADDRESSES) return rem[l];
  u32 segment = l >> (u32)__builtin_ctz(a->segment_lanes), within = l & (a->segment_lanes - 1u);
  u64 index = a->zero_extend ? (u64)(u32)root[l] : (u64)(i64)root[l];
  return rem[segment] + within * (u64)a->stride + (u64)a->coefficient * index;
}

/* The lanes of a mask, which is not empty and has at most ``turns``, and their addresses. Returns 0 where one is not aligned or not in the
   buffer that the access was in last. */
INLINED u32 simt_few_lanes(const simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 form, u32 size, u32 turns, simt_few *few) {
  const simt_access *a = s->access;
  u64 start = s->start, bytes = s->end - start, bad = 0, low_bits = a->align - 1u;
  if (bytes < size) return 0;
  u32 is_plain = form == FORM_INDEXED && a->segments == 1 && !a->stride;
  u64 base = rem[0], coefficient = (u64)a->coefficient, kept = a->zero_extend ? 0xFFFFFFFFu : ~0ull;
  few->n = (u32)__builtin_popcount(mask);
#pragma unroll
  for (u32 i = 0; i < turns; i++) {
    few->lane[i] = (u32)__builtin_ctz(mask);
    u32 left = mask & (mask - 1);
    mask = left ? left : mask;
  }
  if (is_plain) {
#pragma unroll
    for (u32 i = 0; i < turns; i++) few->address[i] = base + coefficient * ((u64)(i64)root[few->lane[i]] & kept);
  } else {
    for (u32 i = 0; i < turns; i++) few->address[i] = simt_address_of(a, rem, root, form, few->lane[i]);
  }
#pragma unroll
  for (u32 i = 0; i < turns; i++) bad |= (u64)(few->address[i] - start > bytes - size) | (few->address[i] & low_bits);
  return !bad;
}

/* How many different pieces of ``1 << shift`` bytes they lie in, of which a buffer has fewer than 2^32. */
INLINED u32 simt_few_pieces(const simt_few *few, u32 shift, u32 turns) {
  u32 again = 0;
  if (turns == FEW) {
    for (u32 i = 1; i < FEW; i++) {
      u32 known = 0;
      for (u32 k = 0; k < i; k++) known |= few->address[i] >> shift == few->address[k] >> shift;
      again += known;
    }
    return FEW - again;
  }
  typedef u32 row __attribute__((vector_size(32)));
  typedef i32 found __attribute__((vector_size(32)));
  row piece;
  found known = {0};
  for (u32 i = 0; i < 2 * FEW; i++) piece[i] = (u32)(few->address[i] >> shift);
  /* Each is compared with the one before it, the one before that, ... */
#define BEFORE(far, ...) known |= (found)(piece == __builtin_shufflevector(piece, piece, __VA_ARGS__)) & ((found){0, 1, 2, 3, 4, 5, 6, 7} >= far);
  BEFORE(1, 7, 0, 1, 2, 3, 4, 5, 6)
  BEFORE(2, 6, 7, 0, 1, 2, 3, 4, 5)
  BEFORE(3, 5, 6, 7, 0, 1, 2, 3, 4)
  BEFORE(4, 4, 5, 6, 7, 0, 1, 2, 3)
  BEFORE(5, 3, 4, 5, 6, 7, 0, 1, 2)
  BEFORE(6, 2, 3, 4, 5, 6, 7, 0, 1)
  BEFORE(7, 1, 2, 3, 4, 5, 6, 7, 0)
#undef BEFORE
  return (u32)(2 * FEW + __builtin_reduce_add(known));
}

/* How many lanes, of at most four, have one address, at most. */
static inline u32 simt_few_alike(const simt_few *few) {
  u32 most = 1;
  for (u32 i = 0; i < FEW; i++) {
    u32 same = 0;
    for (u32 k = 0; k < FEW; k++) same += k < few->n && few->address[i] == few->address[k];
    most = same > most ? same : most;
  }
  return most;
}

#endif
