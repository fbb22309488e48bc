/* Reads past a buffer that a GPU lets pass: it checks addresses by the page, and pages are larger than most buffers.

   Such a read lies outside every buffer and within REACH bytes of one. Buffers are further apart than that, so it reaches
   neither a neighbour nor what was freed, wherever buffers lie. Every byte outside is ``overread``; bytes of a read that lie
   inside come from memory. Each place is noted once for each buffer and side, with how often and the farthest read; of equally
   far ones that of the first thread: nothing depends on the order of blocks and warps. What finds no row is a fault. */
#include "simt.h"

#define REACH (64u << 10)
#define WIDEST 256
#define MOST 512

typedef struct {
  u64 buffer; /* its start */
  u64 address, size;
  u64 farthest; /* bytes from the buffer to the far end of the read */
  u64 count;
  u32 place, before, block, thread;
} simt_noted;

typedef struct simt_overreads {
  u64 n; /* rows */
  simt_noted rows[MOST];
  u8 bytes[WARP][WIDEST]; /* what the lanes of one load read */
} simt_overreads;

static const simt_buffer *nearest(const simt_context *c, u64 address) {
  u32 low = 0, high = c->n_buffers;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (c->buffers[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  const simt_buffer *below = low ? &c->buffers[low - 1] : NULL, *above = low < c->n_buffers ? &c->buffers[low] : NULL;
  if (!below || !above || address < below->end) return below ? below : above;
  return above->start - address < address - below->end + 1 ? above : below;
}

static u32 note(simt_context *c, const simt_noted *now) {
  simt_overreads *k = c->overreads;
  simt_noted *row = k->rows, *end = k->rows + k->n;
  while (row < end && (row->place != now->place || row->buffer != now->buffer || row->before != now->before)) row++;
  if (row == end && k->n == MOST) return 0;
  if (row == end) k->n++, *row = *now, row->count = 0;
  u64 count = row->count + 1, first = (u64)row->block << 32 | row->thread, here = (u64)now->block << 32 | now->thread;
  if (now->farthest > row->farthest || (now->farthest == row->farthest && here < first)) *row = *now;
  row->count = count;
  return 1;
}

/* Whether a GPU would let this read pass, which is noted then. */
u32 simt_is_overread(simt_context *c, u32 place, u32 lane, u64 address, u64 bytes) {
  if (c->overread > 255 || !c->n_buffers) return 0;
  if (c->spread) {
    /* Part of it may lie in a buffer, and what is noted depends on the order of blocks: run again in order. */
    c->departed = 1, c->budget = -1;
    return 0;
  }
  const simt_buffer *b = nearest(c, address);
  u64 before = b->start > address ? b->start - address : 0, end = address + bytes;
  u64 after = end > b->end ? end - b->end : 0;
  if (b->start == b->end || before > REACH || after > REACH || end < address || !(before | after)) return 0;
  simt_noted now = {b->start, address, bytes, before ? before : after, 1, place, before != 0, c->block_linear, simt_thread_of(c, lane)};
  return note(c, &now);
}

void simt_overread_bytes(const simt_context *c, u64 address, u8 *to, u64 bytes) {
  for (u64 i = 0; i < bytes; i++) {
    u64 room;
    u32 writable;
    const u8 *inside = simt_find(c, address + i, &room, &writable);
    to[i] = inside ? *inside : (u8)c->overread;
  }
}

/* Where a lane finds what it reads; NULL when the read is a fault. */
u8 *simt_overread(simt_context *c, u32 place, u32 lane, u64 address, u32 bytes) {
  if (bytes > WIDEST || !simt_is_overread(c, place, lane, address, bytes)) return NULL;
  u8 *to = c->overreads->bytes[lane];
  simt_overread_bytes(c, address, to, bytes);
  return to;
}

/* Whether ``simt_overread`` gave this. */
u32 simt_overread_holds(const simt_context *c, const u8 *host) {
  return c->overread <= 255 && (u64)host - (u64)c->overreads->bytes < sizeof c->overreads->bytes;
}

u64 simt_overreads_bytes(void) { return sizeof(simt_overreads); }
