/* A small L1 and L2 for the blocks that are looked at, and a record of what their warps did, in order.

   Lines are 128 bytes of four 32-byte sectors, replaced least recently used first. L1 begins empty with every block that is
   looked at and does not keep what is only written; L2 keeps everything. Of both only every 2^n-th set is simulated. */
#include <stdlib.h>

#include "simt.h"

enum { WARPS = 32 }; /* of a block, at most */
static const u64 ENDED = ~0ull;

typedef struct {
  u64 tag;
  u32 age;
  u32 sectors;
} line;

typedef struct {
  u32 sets, ways; /* sets that are simulated */
  line *lines;
} level;

typedef struct simt_cache {
  level l1, l2;
  u32 skip; /* sets are looked at when their low ``skip`` bits are 0 */
  u32 clock;
  u64 *events;
  u64 n_events, max_events, room, lost_events;
  /* Of each warp of a block no more is kept than its share, so that all blocks are there, each as far as it goes. */
  u64 blocks, share, of_warp[WARPS], beyond_share;
  u32 since_barrier; /* whether anything was kept since the last barrier */
} simt_cache;

static void open_level(level *v, u64 bytes, u32 ways, u32 skip) {
  u64 sets = bytes / 128 / (ways ? ways : 1) >> skip;
  v->sets = sets ? (u32)sets : 1, v->ways = ways ? ways : 1;
  v->lines = calloc((u64)v->sets * v->ways, sizeof *v->lines);
}

simt_cache *simt_cache_new(u64 l1_bytes, u32 l1_ways, u64 l2_bytes, u32 l2_ways, u32 skip, u64 max_events, u64 blocks) {
  simt_cache *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  k->skip = skip, k->max_events = max_events, k->blocks = blocks, k->share = max_events;
  open_level(&k->l1, l1_bytes, l1_ways, skip);
  open_level(&k->l2, l2_bytes, l2_ways, skip);
  /* A warp ends behind its share, so that there is room for more than all shares; what is not written takes no memory. */
  k->room = blocks ? 2 * max_events : max_events;
  if (max_events) k->events = malloc(k->room * sizeof *k->events);
  return k;
}

void simt_cache_free(simt_cache *k) { free(k->l1.lines), free(k->l2.lines), free(k->events), free(k); }

const u64 *simt_cache_events(const simt_cache *k, u64 *n, u64 *lost, u64 *beyond_share) {
  *n = k->n_events, *lost = k->lost_events, *beyond_share = k->beyond_share;
  return k->events;
}

/* One thing that happened: 8 bits what, 8 bits warp, 24 bits which, 24 bits how much. */
void simt_trace(simt_context *c, u32 kind, u32 which, u32 amount) {
  simt_cache *k = c->cache;
  if (!k->max_events) return;
  u64 warp = c->frame ? c->frame->warp % WARPS : 0;
  if (kind == TRACE_BARRIER) {
    if (!k->since_barrier) return;
    k->since_barrier = 0;
  } else if (kind == TRACE_THREAD_BLOCK) {
    memset(k->of_warp, 0, sizeof k->of_warp);
  } else {
    /* A warp ends where a block of the kernel begins, so that of those before it everything is there. */
    if (kind == TRACE_BLOCK && k->of_warp[warp] >= k->share) k->of_warp[warp] = ENDED;
    if (k->of_warp[warp] == ENDED) {
      k->beyond_share++;
      return;
    }
    k->of_warp[warp]++, k->since_barrier = 1;
  }
  if (k->n_events == k->room) {
    k->lost_events++;
    return;
  }
  k->events[k->n_events++] = (u64)kind << 56 | warp << 48 | (u64)(which & 0xFFFFFF) << 24 | (amount & 0xFFFFFF);
}

void simt_cache_block(simt_context *c) {
  simt_cache *k = c->cache;
  memset(k->l1.lines, 0, (u64)k->l1.sets * k->l1.ways * sizeof *k->l1.lines);
  u64 warps = ((u64)c->ntid[0] * c->ntid[1] * c->ntid[2] + WARP - 1) / WARP;
  if (k->blocks) k->share = k->max_events / (k->blocks * warps);
  simt_trace(c, TRACE_THREAD_BLOCK, c->block_linear, 0);
}

/* Looks for a sector, and makes it present when ``keep``. */
static u32 look(level *v, u64 number, u32 sector, u32 now, u32 keep) {
  line *set = v->lines + number % v->sets * v->ways, *oldest = set;
  u64 tag = number / v->sets + 1;
  for (u32 i = 0; i < v->ways; i++) {
    if (set[i].tag == tag) {
      u32 hit = set[i].sectors >> sector & 1;
      set[i].age = now;
      if (keep) set[i].sectors |= 1u << sector;
      return hit;
    }
    if (set[i].age < oldest->age) oldest = &set[i];
  }
  if (keep) *oldest = (line){tag, now, 1u << sector};
  return 0;
}

/* Behind an access: its lines, each with a bit per sector. */
static void trace_lines(simt_context *c, const u64 *sectors, u32 n) {
  for (u32 i = 0; i < n; i++) {
    u64 number = sectors[i] >> 2;
    u32 present = 0, first = 1;
    for (u32 j = 0; j < n; j++) {
      if (sectors[j] >> 2 != number) continue;
      first &= j >= i;
      present |= 1u << (sectors[j] & 3);
    }
    if (first) simt_trace(c, TRACE_LINE, (u32)(number >> 20), (u32)((number & 0xFFFFF) << 4 | present));
  }
}

void simt_cache_access(simt_context *c, simt_site *s, const u64 *address, u32 mask, u32 bytes, u32 kind) {
  simt_cache *k = c->cache;
  u64 distinct[2 * WARP];
  u32 n = 0;
  EACH_LANE(l, mask) {
    for (u64 sector = address[l] >> 5; sector <= (address[l] + bytes - 1) >> 5 && n < 2 * WARP; sector++) {
      u32 known = 0;
      for (u32 i = 0; i < n; i++) known |= distinct[i] == sector;
      if (!known) distinct[n++] = sector;
    }
  }
  for (u32 i = 0; i < n; i++) {
    u64 number = distinct[i] >> 2;
    /* Neighbouring arrays must not fall on the same sets: the upper bits of the line's number are folded in. */
    u64 mixed = number ^ number >> 9 ^ number >> 17;
    if (mixed & ((1u << k->skip) - 1)) continue;
    u64 place = mixed >> k->skip | (number >> k->skip) << 32;
    u32 sector = distinct[i] & 3;
    k->clock++;
    u32 l1 = kind == LOAD ? look(&k->l1, place, sector, k->clock, 1) : 0;
    if (kind == STORE) (void)look(&k->l1, place, sector, k->clock, 0);
    s->looked_up++;
    if (l1) {
      s->l1_hits++;
      continue;
    }
    if (look(&k->l2, place, sector, k->clock, 1)) s->l2_hits++;
  }
  if (!k->max_events) return;
  u32 turns = 0;
  for (u32 i = 0; i < 3; i++) turns |= (simt_turns_of_parts(address, mask, WARP >> i) - 1) << 5 * i;
  simt_trace(c, TRACE_GLOBAL, s->index, n | simt_neighbours_differ(address, mask) << 7 | turns << 8);
  trace_lines(c, distinct, n);
}
