/* Accesses of at most four lanes to one buffer of global memory, lane by lane and without branches: their number changes from one
   access to the next, and what all lanes of a warp take together takes longer. */
#ifndef KERNELWRIGHT_FEW_LANES_H
#define KERNELWRIGHT_FEW_LANES_H

#include "simt.h"

#define FEW 4

typedef struct {
  u32 n;
  u32 lane[FEW]; /* in order; the last one again where there are fewer */
  u64 address[FEW];
} simt_few;

/* The address of one lane, as ``simt_addresses`` has it. */
static inline u64 simt_address_of(const simt_access *a, const u64 *rem, const i32 *root, u32 form, u32 l) {
  if (form == FORM_ADDRESSES) return rem[l];
  u32 segment = l >> (u32)__builtin_ctz(a->segment_lanes), within = l & (a->segment_lanes - 1u);
  u64 index = a->zero_extend ? (u64)(u32)root[l] : (u64)(i64)root[l];
  return rem[segment] + within * (u64)a->stride + (u64)a->coefficient * index;
}

/* The lanes of a mask, which is not empty, and their addresses. Returns 0 where there are more than four, or one is not aligned or not in the
   buffer that the access was in last. */
static inline u32 simt_few_lanes(const simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 form, u32 size, simt_few *few) {
  const simt_access *a = s->access;
  u64 bytes = s->end - s->start, bad = 0;
  few->n = (u32)__builtin_popcount(mask);
  if (few->n > FEW || bytes < size) return 0;
  for (u32 i = 0; i < FEW; i++) {
    u32 l = few->lane[i] = (u32)__builtin_ctz(mask), left = mask & (mask - 1);
    mask = left ? left : mask;
    u64 address = few->address[i] = simt_address_of(a, rem, root, form, l);
    bad |= (u64)(address - s->start > bytes - size) | (address & (a->align - 1u));
  }
  return !bad;
}

/* How many different pieces of ``1 << shift`` bytes they lie in. */
static inline u32 simt_few_pieces(const simt_few *few, u32 shift) {
  u32 again = 0;
  for (u32 i = 1; i < FEW; i++) {
    u32 known = 0;
    for (u32 k = 0; k < i; k++) known |= few->address[i] >> shift == few->address[k] >> shift;
    again += known;
  }
  return FEW - again;
}

/* How many lanes have one address, at most. */
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
