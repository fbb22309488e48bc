/* What the checker keeps of blocks that take turns (resident.c), and what a barrier of the grid means to it. */
#include <stdlib.h>

#include "check.h"

#define ROOM_SHIFT 50

static void keep_state(const simt_check *k, simt_check_state *s) {
  s->times = k->times, s->known = k->known, s->passed = k->passed, s->knows = k->knows;
  s->shared_written = k->shared_written, s->local_written = k->local_written;
}

void simt_check_state_free(simt_check_state *s) {
  if (s && s->is_own) free(s->times), free(s->known), free(s->passed), free(s->knows), free(s->shared_written), free(s->local_written);
  free(s);
}

simt_check_state *simt_check_state_new(simt_context *c, u32 room) {
  simt_check *k = c->check;
  simt_check_state *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->is_own = room != 0, s->room = (u64)room << ROOM_SHIFT;
  if (!room) return keep_state(k, s), s->epoch = k->epoch, k->state = s;
  u64 warps = (k->n_threads + 31) / 32;
  s->times = calloc(k->n_threads, sizeof *s->times);
  s->known = calloc(warps * 1024, sizeof *s->known);
  s->knows = calloc(k->n_threads, sizeof *s->knows);
  if (k->passed) s->passed = calloc(warps * k->n_points, sizeof *s->passed);
  if (k->shared_written) s->shared_written = calloc(c->shared_size + 16, 1);
  if (k->local_written) s->local_written = calloc(k->n_threads * c->local_size + 16, 1);
  if (s->times && s->known && s->knows && !k->passed == !s->passed && !k->shared_written == !s->shared_written && !k->local_written == !s->local_written)
    return s;
  return simt_check_state_free(s), NULL;
}

/* From now on the block runs that has this state; that of the one before is kept in its own. */
void simt_check_take(simt_context *c, simt_check_state *s) {
  simt_check *k = c->check;
  if (k->state) k->state->epoch = k->epoch;
  k->state = s, k->epoch = s->epoch, k->room = s->room;
  k->times = s->times, k->known = s->known, k->passed = s->passed, k->knows = s->knows;
  k->shared_written = s->shared_written, k->local_written = s->local_written;
}

/* A barrier of the grid opens: all that was done is ordered before all that will be, and can be forgotten. */
void simt_check_grid(simt_context *c, simt_check_state *const *states, u32 n) {
  simt_check *k = c->check;
  for (u64 slot = 0; slot < 1ull << (64 - k->page_shift); slot++)
    for (simt_page *p = k->pages[slot]; p; p = p->next) memset(p->cells, 0, sizeof p->cells);
  memset(k->pool, 0, k->pool_n * sizeof *k->pool);
  k->pool_n = 4;
  for (u64 slot = 0; k->logs && slot < LOG_SLOTS; slot++)
    for (simt_log *log = k->logs[slot]; log; log = log->next) log->n = 0;
  for (u32 i = 0; i < n; i++) memset(states[i]->knows, 0, k->n_threads * sizeof *k->knows);
}
