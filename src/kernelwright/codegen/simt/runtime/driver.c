/* Runs the blocks of a launch one after the other, and the warps of a block from barrier to barrier. */
#include "simt.h"

enum { ORDER_FORWARD, ORDER_GIVEN };

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
  const u8 *point_checked; /* suspension points where not all live lanes need to be */
  const u32 *block_order;  /* NULL: rising */
  const u32 *warp_order;   /* n_warps entries per row, one row per block modulo warp_rows; NULL: rising */
  u32 warp_rows;
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

static void start_block(simt_launch *l) {
  simt_context *c = &l->context;
  if (c->shared_size) memset(l->shared, UNWRITTEN, c->shared_size);
  if (l->local_bytes) memset(l->local, UNWRITTEN, l->n_warps * 32 * l->local_bytes);
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = (simt_frame *)(l->frames + w * l->frame_size);
    f->resume = 0, f->live = f->start, f->arrived = 0;
  }
}

static void stop_at(simt_context *c, simt_frame *f, u32 point, u32 other) {
  c->frame = f;
  simt_fault_at(c, FAULT_BARRIER, point, f->live ? (u32)__builtin_ctz(f->live) : 0, 0, 0, 0);
  c->fault->detail[0] = other;
}

/* Every warp that has not ended waits at a barrier: checks that it is one barrier, and lets them go on. */
static int release(simt_launch *l) {
  simt_context *c = &l->context;
  u32 point = 0, any = 0, all = 1, total = 0;
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = (simt_frame *)(l->frames + w * l->frame_size);
    if (!f->resume) continue;
    if (point && f->resume != point) {
      stop_at(c, f, f->resume, point);
      return 0;
    }
    point = f->resume;
    if (l->point_checked[point] && f->arrived != f->live) {
      stop_at(c, f, point, 0);
      return 0;
    }
    f->arrived = 0;
    any |= (f->predicate & f->live) != 0;
    all &= (f->predicate & f->live) == f->live;
    total += (u32)__builtin_popcount(f->predicate & f->live);
    f->predicate = 0;
  }
  c->barrier_result = total | any << 30 | all << 31;
  return 1;
}

static void run_block(simt_launch *l, u64 block) {
  simt_context *c = &l->context;
  u32 n = l->n_warps;
  const u32 *order = l->warp_order ? l->warp_order + (block % l->warp_rows) * n : NULL;
  start_block(l);
  u32 waiting = n, started = 0;
  while (waiting) {
    waiting = 0;
    for (u32 i = 0; i < n; i++) {
      u32 w = order ? order[i] : i;
      simt_frame *f = (simt_frame *)(l->frames + w * l->frame_size);
      if (started && !f->resume) continue;
      c->local_host = (u64)(l->local + w * 32 * l->local_bytes);
      c->frame = f;
      f->resume = (u32)l->kernel(c, f);
      if (c->budget < 0) return;
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
