/* The two inner loops of the timing model: a scoreboard along the paths of a thread block's warps, and two caches.
   Integers alone, so that every machine gives the same figures. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

/* -- the scoreboard ------------------------------------------------------------------------------------------------- */

typedef struct {
  i32 stall;      /* cycles until the next step may start */
  i32 latency;    /* until the result is there */
  i32 release;    /* until the operands have been read */
  i32 sets;       /* slot, -1: none */
  i32 frees;
  i32 wait_first; /* its waits are waits[wait_first .. wait_last) */
  i32 wait_last;
  i32 barrier;
  i32 blocks; /* whether what follows cannot start before this has; else only who needs its result waits */
  i32 own;    /* the wait of the execution it belongs to, by its number among those of its range; -1: latency says it */
} model_step;

typedef struct {
  i64 time;
  i64 begun; /* when the last of the steps that did not block began */
  i64 *ready;   /* per slot: when its value is there */
  i32 *maker;   /* per slot: the step that makes it */
  const i32 *path;
  const i32 *own; /* per entry of the path: where its waits begin; NULL: there are none */
  i32 left;     /* entries of the path that are not finished */
  i32 at;       /* next step inside the first of them, -1: not begun */
  i32 waiting;  /* the barrier step it stands at, -1: none */
} warp_state;

/* Runs a warp to its next barrier or its end. A wait is charged to the step whose result was waited for. */
static void run_warp(warp_state *w, const i32 *first, const i32 *last, const model_step *steps, const i32 *waits,
                     const i32 *own_waits, i64 *cost) {
  w->waiting = -1;
  while (w->left) {
    i32 block = *w->path, from = w->at < 0 ? first[block] : w->at, to = last[block];
    for (i32 i = from; i < to; i++) {
      const model_step *s = steps + i;
      i64 start = w->time;
      if (s->barrier && w->begun > start) start = w->begun;
      i32 last_maker = i;
      for (i32 k = s->wait_first; k < s->wait_last; k++) {
        i64 ready = w->ready[waits[k]];
        if (ready > start) start = ready, last_maker = w->maker[waits[k]] < 0 ? i : w->maker[waits[k]];
      }
      if (s->blocks && start > w->time) {
        cost[last_maker] += start - w->time;
        w->time = start;
      }
      if (start > w->begun) w->begun = start;
      if (s->sets >= 0) {
        i32 known = w->own && s->own >= 0 ? own_waits[*w->own + s->own] : -1;
        i64 ready = start + (known >= 0 ? known : s->latency);
        /* A counter may stand for several results: it has fallen when the last of them is there. */
        if (ready >= w->ready[s->sets]) w->ready[s->sets] = ready, w->maker[s->sets] = i;
      }
      if (s->frees >= 0) {
        i64 ready = start + s->release;
        if (ready >= w->ready[s->frees]) w->ready[s->frees] = ready, w->maker[s->frees] = i;
      }
      w->time += s->stall;
      cost[i] += s->stall;
      if (s->barrier) {
        w->waiting = i;
        w->at = i + 1;
        return;
      }
    }
    w->path++, w->left--, w->at = -1;
    if (w->own) w->own++;
  }
  if (w->begun > w->time) w->time = w->begun;
}

/* The cycles a thread block takes that has the multiprocessor for itself, and what its barriers add to that.

   paths[starts[w] .. starts[w + 1]) are the ranges of steps that warp w runs; range b is steps[first[b] .. last[b]).
   own (NULL, or one per entry of paths) says where in own_waits the waits of its steps begin, -1 in place of one that is not known.
   cost (one per step, added to) says where the warps spent their time. Returns 0, or -1 without memory. */
int model_block(i32 n_warps, const i32 *starts, const i32 *paths, const i32 *first, const i32 *last,
                const model_step *steps, const i32 *waits, const i32 *own, const i32 *own_waits, i32 n_slots, i64 barrier_base, i64 barrier_warp, i64 *cost,
                i64 *cycles, i64 *barriers, i64 *barrier_cycles) {
  warp_state *warps = calloc((size_t)n_warps, sizeof *warps);
  i64 *ready = calloc((size_t)n_warps * (size_t)n_slots, sizeof *ready);
  i32 *maker = malloc((size_t)n_warps * (size_t)n_slots * sizeof *maker);
  if (!warps || !ready || !maker) {
    free(warps), free(ready), free(maker);
    return -1;
  }
  memset(maker, 0xFF, (size_t)n_warps * (size_t)n_slots * sizeof *maker);
  for (i32 i = 0; i < n_warps; i++) {
    warp_state *w = warps + i;
    w->ready = ready + (size_t)i * (size_t)n_slots, w->maker = maker + (size_t)i * (size_t)n_slots;
    w->path = paths + starts[i], w->own = own ? own + starts[i] : NULL, w->left = starts[i + 1] - starts[i], w->at = -1;
  }
  *cycles = *barriers = *barrier_cycles = 0;
  for (i32 standing = 1; standing;) {
    i64 latest = 0;
    standing = 0;
    for (i32 i = 0; i < n_warps; i++) {
      warp_state *w = warps + i;
      if (!w->left) continue;
      run_warp(w, first, last, steps, waits, own_waits, cost);
      if (w->waiting >= 0) {
        standing++;
        if (w->time > latest) latest = w->time;
      } else if (w->time > *cycles) {
        *cycles = w->time;
      }
    }
    if (!standing) break;
    i64 extra = barrier_base + barrier_warp * standing;
    ++*barriers, *barrier_cycles += extra;
    for (i32 i = 0; i < n_warps; i++) {
      warp_state *w = warps + i;
      if (w->waiting < 0 || !w->left) continue;
      cost[w->waiting] += latest + extra - w->time;
      w->time = latest + extra;
      if (w->time > *cycles) *cycles = w->time;
    }
  }
  free(warps), free(ready), free(maker);
  return 0;
}

/* -- the caches ----------------------------------------------------------------------------------------------------- */

enum { LOAD, STORE, ATOMIC, LOCAL_LOAD, LOCAL_STORE };

typedef struct {
  u64 line; /* + 1; 0: empty */
  u64 used;
  u8 valid; /* a bit per 32-byte sector */
  u8 dirty;
} cache_line;

typedef struct {
  cache_line *lines;
  u64 sets, ways, clock;
} cache;

static int make_cache(cache *c, u64 sets, u64 ways) {
  c->sets = sets, c->ways = ways, c->clock = 0;
  c->lines = sets && ways ? calloc(sets * ways, sizeof *c->lines) : NULL;
  return c->lines || !sets || !ways;
}

static void free_caches(cache *c, i32 n) {
  for (i32 i = 0; c && i < n; i++) free(c[i].lines);
  free(c);
}

/* The place of a line: where it is, else where the line used longest ago gives way. *found says which. NULL: no cache. */
static cache_line *look_up(cache *c, u64 line, int *found) {
  *found = 0;
  if (!c->lines) return NULL;
  u64 mixed = line * 0x9E3779B97F4A7C15ull;
  cache_line *set = c->lines + (mixed >> 32) % c->sets * c->ways, *oldest = set;
  c->clock++;
  for (u64 i = 0; i < c->ways; i++) {
    if (set[i].line == line + 1) {
      set[i].used = c->clock;
      *found = 1;
      return set + i;
    }
    if (set[i].used < oldest->used) oldest = set + i;
  }
  oldest->used = c->clock;
  return oldest;
}

typedef struct {
  i32 access;
  i32 kind;
  i32 block;      /* the thread block, whose L1 cache is looked into first */
  i32 first_line; /* its lines are lines[first_line .. last_line): line number << 4 | mask of sectors */
  i32 last_line;
} model_request;

/* Per access: sectors looked up, found in L1, found in L2, read from memory, written to memory for the first time since
   the line came; requests whose slowest sector came from L1, L2, memory. */
enum { SECTORS, IN_L1, IN_L2, FROM_DRAM, TO_DRAM, SLOWEST_L1, SLOWEST_L2, SLOWEST_DRAM, COLUMNS };

/* Replays requests in order: every thread block has an L1 cache of its own, all share the L2 cache.
   by_block: per block, sectors read from and written to memory. from: per line asked for, where the slowest of its sectors
   came from: 0 L1, 1 L2, 2 memory. Returns 0, or -1 without memory. */
int model_caches(i64 n, const model_request *requests, const u64 *lines, i32 n_blocks, u64 l1_sets, u64 l1_ways, u64 l2_sets,
                 u64 l2_ways, i64 *counts, i64 *by_block, u8 *from) {
  cache l2, *l1 = calloc((size_t)n_blocks, sizeof *l1);
  int good = l1 != NULL;
  for (i32 b = 0; good && b < n_blocks; b++) good &= make_cache(l1 + b, l1_sets, l1_ways);
  good &= make_cache(&l2, l2_sets, l2_ways);
  if (!good) {
    free_caches(l1, n_blocks), free(l2.lines);
    return -1;
  }
  for (i64 r = 0; r < n; r++) {
    const model_request *q = requests + r;
    i64 *count = counts + (i64)q->access * COLUMNS;
    int slowest = SLOWEST_L1, local = q->kind == LOCAL_LOAD || q->kind == LOCAL_STORE;
    int loads = q->kind == LOAD || q->kind == LOCAL_LOAD, writes = q->kind == STORE || q->kind == ATOMIC;
    for (i32 k = q->first_line; k < q->last_line; k++) {
      u64 line = lines[k] >> 4;
      u8 wanted = lines[k] & 15, missing = wanted;
      int found;
      count[SECTORS] += __builtin_popcount(wanted);
      if (loads || local) {
        cache_line *place = look_up(l1 + q->block, line, &found);
        if (place) {
          if (!found) place->line = line + 1, place->valid = place->dirty = 0;
          /* Local memory is written without reading it, so that what is stored counts as found. */
          u8 hit = q->kind == LOCAL_STORE ? wanted : wanted & place->valid;
          count[IN_L1] += __builtin_popcount(hit);
          place->valid |= wanted;
          missing = wanted & ~hit;
        }
      }
      from[k] = 0;
      if (!missing) continue;
      cache_line *place = look_up(&l2, line, &found);
      u8 here = 0;
      if (place) {
        if (!found) place->line = line + 1, place->valid = place->dirty = 0;
        here = missing & place->valid;
        place->valid |= missing;
      }
      u8 absent = missing & ~here;
      /* A store brings its own bytes; loads and atomics need them from memory. */
      i64 read = q->kind == STORE ? 0 : __builtin_popcount(absent);
      count[IN_L2] += __builtin_popcount(missing) - read;
      count[FROM_DRAM] += read;
      by_block[q->block * 2] += read;
      int depth = read ? SLOWEST_DRAM : SLOWEST_L2;
      if (depth > slowest) slowest = depth;
      from[k] = (u8)(depth - SLOWEST_L1);
      if (writes) {
        u8 fresh = place ? missing & ~place->dirty : missing;
        if (place) place->dirty |= missing;
        count[TO_DRAM] += __builtin_popcount(fresh);
        by_block[q->block * 2 + 1] += __builtin_popcount(fresh);
      }
    }
    count[slowest]++;
  }
  free_caches(l1, n_blocks), free(l2.lines);
  return 0;
}
