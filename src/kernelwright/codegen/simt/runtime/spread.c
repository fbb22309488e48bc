/* Runs blocks of a launch at the same time, each of several threads some of them.

   The host has looked at what the blocks touch (analyses/block_footprints.py) and says which buffers the launch writes to and which
   buffer each access keeps to. As long as that holds, no block sees what another does, and what is counted adds up to the same in any
   order. Where it does not hold, and where a block does not end, memory becomes again what it was: the host runs the blocks in order. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "spread.h"

typedef struct simt_worker {
  simt_launch launch;
  simt_fault fault;
  simt_spread *spread;
  u8 *room;
  pthread_t thread;
  u32 is_thread, pad;
} worker;

static u64 rounded(u64 bytes) { return (bytes + 127) / 64 * 64; }

/* What a worker has for itself: frames, local and shared memory, counters. */
static int furnish(worker *w, simt_launch *l, simt_spread *s) {
  simt_context *c = &w->launch.context;
  w->launch = *l, w->spread = s;
  u64 frames = rounded(l->n_warps * l->frame_size), local = rounded(l->n_warps * 32 * l->local_bytes);
  u64 shared = rounded(c->shared_size + 2 * ABI_SHARED_SLACK), sites = rounded(c->n_sites * sizeof *c->true_sites), counts = rounded(l->n_counts * sizeof *c->counts);
  u64 patterns = c->n_sites * sizeof *c->patterns;
  if (posix_memalign((void **)&w->room, 64, frames + local + shared + sites + counts + patterns)) return 0;
  u8 *at = w->room;
  w->launch.frames = at, at += frames;
  w->launch.local = at, at += local;
  w->launch.shared = at + ABI_SHARED_SLACK, at += shared;
  c->true_sites = (simt_site *)at, at += sites;
  c->counts = (u64 *)at, at += counts;
  c->patterns = (simt_pattern *)at;
  memcpy(w->launch.frames, l->frames, l->n_warps * l->frame_size);
  memcpy(c->true_sites, l->fresh_sites, c->n_sites * sizeof *c->true_sites);
  memset(c->counts, 0, l->n_counts * sizeof *c->counts);
  memset(c->patterns, 0, patterns);
  memset(w->launch.local, 0, local);
  c->shared_host = (u64)w->launch.shared, c->fault = &w->fault;
  c->spread = 1, c->departed = 0, c->written = s->written, c->homes = s->homes;
  return 1;
}

static u64 busy_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static void *work(void *given) {
  worker *w = given;
  simt_spread *s = w->spread;
  simt_launch *l = s->launch;
  u64 begin = busy_ns();
  u32 way = simt_way(&w->launch);
  while (!__atomic_load_n(&s->ended, __ATOMIC_RELAXED)) {
    u64 first = __atomic_fetch_add(&s->next, s->step, __ATOMIC_RELAXED);
    if (first >= s->n_blocks) break;
    u64 end = first + s->step < s->n_blocks ? first + s->step : s->n_blocks;
    for (u64 block = first; block < end; block++) {
      simt_run_block(&w->launch, block, way);
      if (w->launch.context.budget < 0) {
        __atomic_store_n(&s->ended, 1, __ATOMIC_RELAXED);
        break;
      }
      __atomic_fetch_add(&l->blocks_done, 1, __ATOMIC_RELAXED);
    }
  }
  __atomic_fetch_add(&s->busy_ns, busy_ns() - begin, __ATOMIC_RELAXED);
  return NULL;
}

/* Adds what a worker counted. 0: which buffer an access was in last depends on the order of blocks. */
static int add_up(simt_launch *l, const simt_launch *from, u64 *last) {
  simt_context *c = &l->context;
  const simt_context *f = &from->context;
  for (u32 i = 0; i < l->n_counts; i++) c->counts[i] += f->counts[i];
  for (u32 i = 0; i < c->n_sites; i++) {
    simt_site *to = c->true_sites + i;
    const simt_site *s = f->true_sites + i;
    to->sectors += s->sectors, to->waves += s->waves, to->serial += s->serial;
    to->in_shared += s->in_shared, to->in_local += s->in_local;
    if (!s->start) continue;
    if (last[i] && last[i] != s->start) return 0;
    last[i] = s->start;
    to->low = s->low, to->count = s->count, to->start = s->start, to->end = s->end, to->writable = s->writable;
  }
  return 1;
}

static void copy_saved(const simt_spread *s, int back) {
  u8 *room = s->room;
  for (u32 i = 0; i < s->n_saved; i++) {
    u64 bytes = s->saved[i].end - s->saved[i].start;
    memcpy(back ? (u8 *)s->saved[i].start : room, back ? room : (u8 *)s->saved[i].start, bytes);
    room += bytes;
  }
}

static pthread_mutex_t halting = PTHREAD_MUTEX_INITIALIZER;

/* Takes what is left of the budget of a launch, and of all workers that run its blocks; called from another thread. */
void simt_halt(simt_launch *l) {
  pthread_mutex_lock(&halting);
  l->halted = 1, l->context.budget = -(1ll << 62);
  for (u64 i = 0; i < l->n_workers; i++) l->workers[i].launch.context.budget = -(1ll << 62);
  pthread_mutex_unlock(&halting);
}

/* Runs what is left of a launch. 1: all of it is done; 0: nothing is, as if this had not been called. */
u32 simt_run_spread(simt_launch *l, simt_spread *s) {
  u64 before = l->blocks_done, n = s->n_workers;
  i64 budget = l->context.budget, left = budget;
  worker *workers = NULL;
  u32 good = 1, ready = 0;
  if (posix_memalign((void **)&workers, 64, n * sizeof *workers)) return 0;
  memset(workers, 0, n * sizeof *workers);
  s->launch = l, s->next = before, s->ended = 0, s->busy_ns = 0;
  while (ready < n && furnish(&workers[ready], l, s)) ready++;
  u64 *last = calloc(l->context.n_sites + 1, sizeof *last);
  if (!last) ready = 0;
  if (ready) {
    copy_saved(s, 0);
    pthread_mutex_lock(&halting);
    l->workers = workers, l->n_workers = ready;
    s->ended = l->halted;
    pthread_mutex_unlock(&halting);
    /* Signals are for the threads that know what to do with them. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (u32 i = 1; i < ready; i++) workers[i].is_thread = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    work(&workers[0]);
    for (u32 i = 1; i < ready; i++)
      if (workers[i].is_thread) pthread_join(workers[i].thread, NULL);
    pthread_mutex_lock(&halting);
    l->workers = NULL, l->n_workers = 0;
    pthread_mutex_unlock(&halting);
  }
  good = ready && !s->ended;
  for (u32 i = 0; i < ready; i++) {
    const simt_context *c = &workers[i].launch.context;
    good &= !c->departed && !workers[i].fault.kind && c->budget >= 0;
    left -= budget - c->budget;
  }
  good &= left >= 0;
  s->departed = 0;
  if (good) {
    u64 bytes = l->n_counts * sizeof *l->context.counts, site_bytes = l->context.n_sites * sizeof(simt_site);
    u8 *kept = malloc(bytes + site_bytes + 1);
    good = kept != NULL;
    if (kept) memcpy(kept, l->context.counts, bytes), memcpy(kept + bytes, l->context.true_sites, site_bytes);
    for (u32 i = 0; i < ready && good; i++) good = add_up(l, &workers[i].launch, last);
    if (kept && !good) memcpy(l->context.counts, kept, bytes), memcpy(l->context.true_sites, kept + bytes, site_bytes);
    free(kept);
    s->departed = !good;
  }
  for (u32 i = 0; i < ready; i++) s->departed |= workers[i].launch.context.departed;
  if (good) {
    l->context.budget = left;
  } else {
    if (ready) copy_saved(s, 1);
    l->blocks_done = before;
  }
  for (u32 i = 0; i < ready; i++) free(workers[i].room);
  free(workers), free(last);
  return good;
}

u64 simt_spread_bytes(void) { return sizeof(simt_spread); }
