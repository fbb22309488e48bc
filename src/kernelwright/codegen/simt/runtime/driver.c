/* Runs the blocks of a launch one after the other, and the warps of a block from barrier to barrier. */
#include "simt.h"

typedef struct {
  simt_context context;
  simt_kernel kernel;
  u8 *frames; /* n_warps * frame_size */
  u64 frame_size;
  u64 local_bytes; /* per thread */
  u8 *local;       /* n_warps * 32 * local_bytes */
  u8 *shared;
  u32 n_warps, n_threads;
  u32 segments;
  u32 n_points;
  const simt_point *points; /* from index 1 */
  const u32 *block_order;  /* NULL: rising */
  const u32 *warp_order;   /* n_warps entries per row, one row per block modulo warp_rows; NULL: rising */
  u32 warp_rows;
  u32 n_groups;            /* split schedules: groups of lanes per warp; 0: warps run in step */
  const u32 *groups;       /* n_groups masks per warp, one row of warps per block modulo group_rows */
  u32 group_rows;
  u32 watch_every; /* the caches look at every n-th block; 0: none */
  u64 first_block, n_blocks;
  u64 blocks_done;
} simt_launch;

u32 simt_thread_of(const simt_context *c, u32 lane) { return c->frame->first + lane; }

void simt_fault_at(simt_context *c, u32 kind, u32 site, u32 lane, u64 address, u32 size, u32 write) {
  c->budget = -1;
  simt_fault *f = c->fault;
  if (f->kind) return;
  f->kind = kind, f->site = site, f->block = c->block_linear, f->thread = simt_thread_of(c, lane);
  f->address = address, f->size = size, f->write = write;
}

static simt_frame *frame_of(const simt_launch *l, u32 w) { return (simt_frame *)(l->frames + w * l->frame_size); }

static void start_block(simt_launch *l) {
  simt_context *c = &l->context;
  if (c->shared_size) memset(l->shared, UNWRITTEN, c->shared_size);
  if (l->local_bytes) memset(l->local, UNWRITTEN, l->n_warps * 32 * l->local_bytes);
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    f->resume = 0, f->live = f->start, f->arrived = f->waiting = f->barrier_point = f->conflict = f->predicate = 0;
  }
  if (c->cache) {
    c->watched = l->watch_every && c->block_linear % l->watch_every == 0;
    c->frame = NULL;
    if (c->watched) simt_cache_block(c);
  }
  c->attention = c->check || c->watched;
  c->sites = c->attention ? c->blind_sites : c->true_sites;
  if (c->check) simt_check_block(c);
}

static void stop_at(simt_context *c, simt_frame *f, u32 point, u32 lane, u32 other) {
  c->frame = f;
  u32 first = !c->fault->kind;
  simt_fault_at(c, FAULT_BARRIER, point, lane, 0, 0, 0);
  if (first) c->fault->detail[0] = other;
}

/* Lanes that wait apart: lets those in ``lanes`` go on, each behind its own point. */
static void go_on(simt_launch *l, simt_frame *f, u32 lanes) {
  memset(f->masks, 0, l->n_points * sizeof(u32));
  EACH_LANE(i, lanes) {
    f->masks[f->site[i] - 1] |= 1u << i;
    f->site[i] = 0;
  }
  f->waiting &= ~lanes;
  f->resume = l->n_points + 1;
}

/* No lane of the warp can move. Whether they all wait at one barrier; else that is a fault. */
static int at_barrier(simt_launch *l, simt_frame *f) {
  simt_context *c = &l->context;
  if (!f->waiting) return 1;
  u32 point = 0;
  EACH_LANE(i, f->waiting) {
    u32 here = f->site[i];
    if (l->points[here].is_gather || (point && point != here) || f->barrier_point) {
      /* Named first: the lane that waits for the others of its warp. */
      stop_at(c, f, here, i, point ? point : f->barrier_point);
      return 0;
    }
    point = here;
  }
  f->barrier_point = point;
  f->arrived = f->waiting;
  return 1;
}

/* Runs a warp until its live lanes wait at a barrier or none is left. 0: the launch ends. */
static int run_warp(simt_launch *l, simt_frame *f, const u32 *groups) {
  simt_context *c = &l->context;
  u32 lanes = f->resume ? f->live : f->start, starting = f->resume == 0, apart = 0;
  c->frame = f;
  if (l->n_groups && !starting) apart = 1;
  for (;;) {
    u32 n = l->n_groups ? l->n_groups : 1;
    for (u32 g = 0; g < n; g++) {
      u32 now = l->n_groups ? lanes & groups[g] : lanes;
      if (!now) continue;
      if (apart) go_on(l, f, now);
      else if (l->n_groups) f->run = now, f->resume = 0;
      u32 point = (u32)l->kernel(c, f);
      if (c->budget < 0) return 0;
      if (point) f->barrier_point = point;
    }
    if (!f->waiting) break;
    lanes = simt_complete_gathers(c, f, l->points);
    if (!lanes) break;
    apart = 1;
  }
  if (!at_barrier(l, f)) return 0;
  f->resume = f->barrier_point;
  return 1;
}

/* Every warp that has not ended waits at a barrier: checks that it is one barrier, and lets them go on. */
static int release(simt_launch *l) {
  simt_context *c = &l->context;
  u32 point = 0, any = 0, all = 1, total = 0;
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    if (!f->resume) continue;
    u32 apart = l->points[f->resume].checked || l->n_groups;
    u32 missing = apart ? f->live & ~f->arrived : 0;
    if (f->conflict || missing || (point && f->resume != point)) {
      u32 lane = missing ? (u32)__builtin_ctz(missing) : f->live ? (u32)__builtin_ctz(f->live) : 0;
      stop_at(c, f, f->resume, lane, f->conflict ? f->conflict : missing ? 0 : point);
      return 0;
    }
    point = f->resume;
    u32 yes = f->predicate & f->live;
    any |= yes != 0;
    all &= yes == f->live;
    total += (u32)__builtin_popcount(yes);
    f->predicate = f->arrived = f->barrier_point = 0;
  }
  c->barrier_result = total | any << 30 | all << 31;
  if (c->check) simt_check_barrier(c);
  if (c->watched) c->frame = NULL, simt_trace(c, TRACE_BARRIER, point, 0);
  return 1;
}

static void run_block(simt_launch *l, u64 block) {
  simt_context *c = &l->context;
  u32 n = l->n_warps;
  const u32 *order = l->warp_order ? l->warp_order + (block % l->warp_rows) * n : NULL;
  const u32 *groups = l->n_groups ? l->groups + (block % l->group_rows) * n * l->n_groups : NULL;
  start_block(l);
  u32 waiting = n, started = 0;
  while (waiting) {
    waiting = 0;
    for (u32 i = 0; i < n; i++) {
      u32 w = order ? order[i] : i;
      simt_frame *f = frame_of(l, w);
      if (started && !f->resume) continue;
      c->local_host = (u64)(l->local + w * 32 * l->local_bytes);
      if (!run_warp(l, f, groups ? groups + w * l->n_groups : NULL)) return;
      waiting += f->resume != 0;
    }
    started = 1;
    if (waiting && !release(l)) return;
  }
}

/* Runs the launch; the fault record says how it ended. */
void simt_run(simt_launch *l) {
  simt_context *c = &l->context;
  c->shared_host = (u64)l->shared;
  u32 x = c->ntid[0], y = c->ntid[1];
  u32 per = 32 / l->segments;
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = (simt_frame *)(l->frames + w * l->frame_size);
    u32 left = l->n_threads - w * 32;
    f->warp = w, f->first = w * 32, f->start = left >= 32 ? ~0u : (1u << left) - 1;
    for (u32 i = 0; i < 32; i++) {
      u32 t = w * 32 + i;
      f->tid[0][i] = (i32)(t % x), f->tid[1][i] = (i32)(t / x % y), f->tid[2][i] = (i32)(t / x / y);
      if (i % per == 0)
        for (u32 k = 0; k < 3; k++) f->segment_tid[k][i / per] = f->tid[k][i];
    }
  }
  u64 plane = (u64)c->nctaid[0] * c->nctaid[1];
  for (u64 i = 0; i < l->n_blocks; i++) {
    u64 block = l->block_order ? l->block_order[i] : l->first_block + i;
    c->ctaid[0] = (u32)(block % c->nctaid[0]);
    c->ctaid[1] = (u32)(block / c->nctaid[0] % c->nctaid[1]);
    c->ctaid[2] = (u32)(block / plane);
    c->block_linear = (u32)block;
    run_block(l, block);
    if (c->budget < 0) {
      if (!c->fault->kind) {
        c->fault->kind = FAULT_ENDLESS, c->fault->block = (u32)block;
        c->fault->thread = c->frame->first + (c->frame->live ? (u32)__builtin_ctz(c->frame->live) : 0);
      }
      return;
    }
    l->blocks_done++;
  }
}

u64 simt_launch_bytes(void) { return sizeof(simt_launch); }
