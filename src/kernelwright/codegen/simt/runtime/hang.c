/* Blocks that wait for ever. While a block runs no other does: when all its warps only wait, and a whole round of them changes neither its own
   state nor any memory, then neither will the next round. Rounds are compared now and then, ever more rarely, since most waits end.
   Then it is for others to change something: see resident.c. */
#include <stdlib.h>

#include "launch.h"

#define FIRST_LOOK 64

/* What decides how a block goes on: frames, shared and local memory, and what else it can see. */
static u64 state_bytes(const simt_launch *l) {
  return l->n_warps * (l->frame_size + 32 * l->local_bytes) + l->context.shared_size + sizeof l->context.arrivals;
}

static void copy_state(const simt_launch *l, u8 *to) {
  u64 frames = l->n_warps * l->frame_size, local = l->n_warps * 32 * l->local_bytes;
  memcpy(to, l->frames, frames), to += frames;
  memcpy(to, l->local, local), to += local;
  memcpy(to, l->shared, l->context.shared_size), to += l->context.shared_size;
  memcpy(to, l->context.arrivals, sizeof l->context.arrivals);
}

static int same_state(const simt_launch *l, const u8 *kept) {
  u64 bytes = state_bytes(l);
  u8 *now = malloc(bytes);
  if (!now) return 0;
  copy_state(l, now);
  int same = !memcmp(now, kept, bytes);
  free(now);
  return same;
}

static void look(simt_launch *l, simt_quiet *q) {
  simt_context *c = &l->context;
  if (!(q->kept = malloc(state_bytes(l)))) return;
  copy_state(l, q->kept);
  q->clock = c->clock, q->printed = c->print_used + c->print_lost;
  q->attention = c->attention;
  c->sites = c->blind_sites, c->attention = 1, c->changes = &q->changed;
  q->changed = 0;
}

static void look_away(simt_launch *l, simt_quiet *q) {
  simt_context *c = &l->context;
  c->attention = q->attention, c->changes = NULL;
  c->sites = c->attention ? c->blind_sites : c->true_sites;
  free(q->kept), q->kept = NULL;
}

/* A round of warps has ended. ``only_waited``: all that ran let others run, and none did anything else. 1: it goes on like this until another
   block or the host changes something. */
int simt_hangs(simt_launch *l, simt_quiet *q, u32 only_waited) {
  simt_context *c = &l->context;
  int hangs = 0;
  if (q->kept) {
    hangs = only_waited && !q->changed && c->clock == q->clock && c->print_used + c->print_lost == q->printed && same_state(l, q->kept);
    look_away(l, q);
    q->next *= 2;
  }
  if (!only_waited) q->rounds = 0, q->next = FIRST_LOOK;
  else if (++q->rounds >= q->next && !c->weak && !c->spread && !hangs) look(l, q);
  return hangs;
}

/* The next round is compared. */
void simt_quiet_begin(simt_launch *l, simt_quiet *q) {
  if (!l->context.weak && !l->context.spread) look(l, q);
  q->next = FIRST_LOOK;
}

/* The block has ended, however. */
void simt_quiet_end(simt_launch *l, simt_quiet *q) {
  if (q->kept) look_away(l, q);
}

/* Notes whether a store changes something in global memory. ``data``: as it comes, component by component. */
void simt_note_store(simt_context *c, const simt_access *a, const u64 *address, u8 *const *host, u32 mask, const u8 *data) {
  EACH_LANE(l, mask) {
    if (host[l] != (u8 *)address[l]) continue; /* the block's own */
    for (u32 k = 0; k < a->components; k++)
      *c->changes |= memcmp(host[l] + k * a->size, data + (k * WARP + l) * a->size, a->size) != 0;
  }
}
