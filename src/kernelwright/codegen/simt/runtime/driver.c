/* Runs the warps of a block from barrier to barrier. */
#include "launch.h"

u32 simt_thread_of(const simt_context *c, u32 lane) { return c->frame->first + lane; }

void simt_fault_at(simt_context *c, u32 kind, u32 site, u32 lane, u64 address, u32 size, u32 write) {
  c->budget = -1;
  simt_fault *f = c->fault;
  if (f->kind) return;
  f->kind = kind, f->site = site, f->block = c->block_linear, f->thread = simt_thread_of(c, lane);
  f->address = address, f->size = size, f->write = write;
}

static simt_frame *frame_of(const simt_launch *l, u32 w) { return (simt_frame *)(l->frames + w * l->frame_size); }

/* Makes the memory of a block unwritten. */
static void empty_room(simt_launch *l) {
  const simt_context *c = &l->context;
  if (c->shared_size) memset(l->shared, UNWRITTEN, c->shared_size);
  if (l->fresh_bytes == l->local_bytes) {
    if (l->local_bytes) memset(l->local, UNWRITTEN, l->n_warps * 32 * l->local_bytes);
  } else {
    /* The words of all lanes lie beside each other, so that the first bytes of each are the first of the warp's. */
    for (u32 w = 0; w < l->n_warps; w++) memset(l->local + w * 32 * l->local_bytes, UNWRITTEN, 32 * l->fresh_bytes);
  }
}

static void start_block(simt_launch *l) {
  simt_context *c = &l->context;
  empty_room(l);
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    f->resume = 0, f->live = f->start, f->arrived = f->waiting = f->barrier_point = f->conflict = f->predicate = 0;
  }
  memset(c->arrivals, 0, sizeof c->arrivals);
  c->watched = 0;
  if (c->cache) {
    c->watched = l->watch_every && c->block_linear % l->watch_every == 0;
    for (u32 i = 0; i < l->n_watch_list; i++) c->watched |= l->watch_list[i] == c->block_linear;
    c->frame = NULL;
    if (c->watched) simt_cache_block(c);
  }
  c->attention = c->check || c->watched || c->weak;
  c->sites = c->attention ? c->blind_sites : c->true_sites;
  if (c->check) simt_check_block(c);
  if (c->weak) simt_weak_block(c);
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

/* No lane of the warp can move, and some wait. Whether they all wait at one barrier; else that is a fault. */
static int at_barrier(simt_launch *l, simt_frame *f) {
  simt_context *c = &l->context;
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

enum { ENDED, AT_BARRIER, YIELDED, STOPPED, GOES_ON = 8 };

/* Runs lanes of a warp once, group by group where there are groups. 0: the launch ends. */
static inline int run_once(simt_launch *l, simt_frame *f, const u32 *groups, u32 lanes, u32 apart) {
  simt_context *c = &l->context;
  if (!l->n_groups && !apart) {
    /* The usual case: all lanes begin, or go on behind a barrier, in step. */
    u32 point = (u32)l->kernel(c, f);
    if (point) f->barrier_point = point;
    return c->budget >= 0;
  }
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
  return 1;
}

/* Runs a warp until its live lanes wait at a barrier, let others run, or have all returned. */
static inline u32 run_warp(simt_launch *l, simt_frame *f, const u32 *groups, u32 state) {
  simt_context *c = &l->context;
  c->frame = f;
  u32 lanes = state == ENDED ? f->start : state == YIELDED ? simt_yielded(f, l->points) : f->live;
  if (!run_once(l, f, groups, lanes, state == YIELDED || (l->n_groups && state == AT_BARRIER))) return STOPPED;
  while (f->waiting) {
    lanes = simt_complete_gathers(c, f, l->points);
    if (!lanes && simt_yielded(f, l->points)) return YIELDED;
    if (!lanes) break;
    if (!run_once(l, f, groups, lanes, 1)) return STOPPED;
  }
  if (f->waiting && !at_barrier(l, f)) return STOPPED;
  f->resume = f->barrier_point;
  return f->resume ? AT_BARRIER : ENDED;
}

/* The lanes of a warp that wait at its barrier; what is missing are live lanes that do not. */
static u32 lanes_at(const simt_launch *l, const simt_frame *f) {
  return l->points[f->resume].checked || l->n_groups ? f->arrived : f->live;
}

static void open(simt_launch *l, simt_frame *f, u32 *any, u32 *all, u32 *total) {
  u32 here = lanes_at(l, f), yes = f->predicate & here;
  *any |= yes != 0, *all &= yes == here, *total += (u32)__builtin_popcount(yes);
  f->predicate = f->arrived = f->barrier_point = 0;
}

/* A barrier for all threads is to open: the checker gets one thread that waits there. */
static void tell_passed(simt_launch *l, const u8 *state, u32 point) {
  for (u32 w = 0; w < l->n_warps; w++) {
    const simt_frame *f = frame_of(l, w);
    u32 here = state[w] == AT_BARRIER && f->resume == point ? lanes_at(l, f) : 0;
    if (!here) continue;
    simt_check_passed(&l->context, point, f->first + (u32)__builtin_ctz(here));
    return;
  }
}

/* A barrier for some threads is to open: the checker gets the threads that wait there. All arrive before one goes on. */
static void tell_counted(simt_launch *l, const u8 *state, u32 number) {
  for (u32 round = 0; round < 2; round++)
    for (u32 w = 0; w < l->n_warps; w++) {
      const simt_frame *f = frame_of(l, w);
      if (state[w] != AT_BARRIER || l->points[f->resume].number != number) continue;
      (round ? simt_check_depart : simt_check_arrive)(&l->context, number, f->first, lanes_at(l, f));
    }
}

/* Whether warps at two barriers may be there for each other: GPUs count who has come to a barrier of a number, wherever in the code. */
static u32 are_alike(const simt_launch *l, u32 one, u32 other) {
  const simt_point *p = &l->points[one], *q = &l->points[other];
  u32 plain = !p->threads && !q->threads && !p->is_grid && !q->is_grid && !p->reduces && !q->reduces;
  return plain && l->context.overread <= 255 && !l->context.check;
}

/* Notes that they were. 0: the launch ends, and its blocks run in order, so that what is noted is the first. */
static int note_met(simt_context *c, u32 one, u32 other) {
  if (c->spread) c->departed = 1, c->budget = -1;
  else if (!c->met[0]) c->met[0] = one, c->met[1] = other;
  return !c->spread;
}

/* The usual case: all warps wait at one barrier, whole. 2: at one of the grid. */
static int release_all(simt_launch *l, u8 *state) {
  simt_context *c = &l->context;
  u32 any = 0, all = 1, total = 0, point = 0;
  for (u32 w = 0; w < l->n_warps; w++) {
    const simt_frame *f = frame_of(l, w);
    if (state[w] != AT_BARRIER) continue;
    if (!point) point = f->resume;
    if (f->resume != point || f->conflict || f->live & ~lanes_at(l, f)) return 0;
  }
  const simt_point *p = &l->points[point];
  if (point && p->is_grid && !c->cooperative) {
    simt_frame *f = NULL;
    for (u32 w = l->n_warps; w-- > 0;)
      if (state[w] == AT_BARRIER) f = frame_of(l, w);
    c->frame = f;
    simt_fault_at(c, FAULT_ALONE, point, (u32)__builtin_ctz(f->live), 0, 0, 0);
    return -1;
  }
  if (!point || p->threads || c->arrivals[p->number & 15]) return 0;
  if (c->check) tell_passed(l, state, point);
  for (u32 w = 0; w < l->n_warps; w++) {
    if (state[w] != AT_BARRIER) continue;
    open(l, frame_of(l, w), &any, &all, &total);
    state[w] |= GOES_ON;
  }
  c->barrier_result = total | any << 30 | all << 31;
  if (c->check) simt_check_barrier(c);
  if (c->weak) simt_weak_barrier(c);
  if (c->watched) c->frame = NULL, simt_trace(c, TRACE_BARRIER, point, 0);
  return p->is_grid ? 2 : 1;
}

/* No warp can move. Opens a barrier that is complete and lets its warps go on: 1, or 2 for one of the grid, behind which they go on when all
   blocks are there; a fault when there is none: 0. */
static int release(simt_launch *l, u8 *state) {
  simt_context *c = &l->context;
  int opened = release_all(l, state);
  if (opened) return opened < 0 ? 0 : opened;
  u32 waits[16] = {0}, everybody = 0, first = 0;
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    if (state[w] != AT_BARRIER) continue;
    u32 missing = f->live & ~lanes_at(l, f);
    const simt_point *p = &l->points[f->resume];
    if (f->conflict || (missing && !p->threads)) {
      stop_at(c, f, f->resume, missing ? (u32)__builtin_ctz(missing) : (u32)__builtin_ctz(f->live), f->conflict);
      return 0;
    }
    waits[p->number & 15] += (u32)__builtin_popcount(lanes_at(l, f));
    everybody += (u32)__builtin_popcount(f->live);
  }
  for (u32 number = 0; number < 16; number++) {
    if (!waits[number]) continue;
    u32 need = 0, any = 0, all = 1, total = 0, point = 0, other = 0;
    for (u32 w = 0; w < l->n_warps; w++) {
      u32 here = frame_of(l, w)->resume;
      const simt_point *p = &l->points[here];
      if (state[w] != AT_BARRIER || p->number != number) continue;
      need = p->threads;
      if (!point) point = here, first = w;
      else if (here != point && !need && are_alike(l, point, here)) other = other ? other : here;
      else if (here != point && !need) {
        stop_at(c, frame_of(l, w), here, (u32)__builtin_ctz(frame_of(l, w)->live), point);
        return 0;
      }
    }
    if (need ? waits[number] + c->arrivals[number] < need : waits[number] + c->arrivals[number] < everybody) continue;
    if (other && !note_met(c, point, other)) return 0;
    if (c->check && !need) tell_passed(l, state, point);
    u32 counted = need && (c->arrivals[number] || waits[number] < everybody);
    if (c->check && counted) tell_counted(l, state, number);
    for (u32 w = 0; w < l->n_warps; w++) {
      if (state[w] != AT_BARRIER || l->points[frame_of(l, w)->resume].number != number) continue;
      open(l, frame_of(l, w), &any, &all, &total);
      state[w] |= GOES_ON;
    }
    c->arrivals[number] = 0;
    c->barrier_result = total | any << 30 | all << 31;
    if (c->check && !counted) simt_check_barrier(c);
    if (c->weak) simt_weak_barrier(c);
    if (c->watched) c->frame = NULL, simt_trace(c, TRACE_BARRIER, point, 0);
    return 1;
  }
  simt_frame *f = frame_of(l, first);
  for (u32 w = 0; w < l->n_warps; w++)
    if (state[w] == AT_BARRIER && w != first && frame_of(l, w)->resume != f->resume) {
      stop_at(c, frame_of(l, w), frame_of(l, w)->resume, (u32)__builtin_ctz(frame_of(l, w)->live), f->resume);
      return 0;
    }
  stop_at(c, f, f->resume, (u32)__builtin_ctz(f->live), 0);
  return 0;
}

/* Lanes count at a barrier and go on. */
void simt_arrive(simt_context *c, u32 number, u32 threads, u32 mask) {
  (void)threads;
  c->arrivals[number & 15] += (u32)__builtin_popcount(mask);
  if (c->check) simt_check_arrive(c, number & 15, c->frame->first, mask);
}

u32 simt_run_rounds(simt_launch *l, simt_block *b, u64 patience) {
  simt_context *c = &l->context;
  u32 n = l->n_warps, began = b->began;
  const u32 *order = l->warp_order ? l->warp_order + (b->number % l->warp_rows) * n : NULL;
  const u32 *groups = l->n_groups ? l->groups + (b->number % l->group_rows) * n * l->n_groups : NULL;
  u8 *state = b->state;
  simt_quiet quiet = {0};
  u64 waited = 0;
  u32 outcome = BLOCK_ENDED;
  u32 goes_on = 0;
  for (u32 w = 0; w < n; w++) goes_on |= state[w] & GOES_ON;
  if (!began) start_block(l), b->left = n;
  else if (!goes_on) simt_quiet_begin(l, &quiet);
  b->did = 0, b->began = 1;
  while (b->left) {
    u32 moved = 0, did = 0;
    for (u32 i = 0; i < n; i++) {
      u32 w = order ? order[i] : i;
      if (began && state[w] != YIELDED && !(state[w] & GOES_ON)) continue;
      c->local_host = (u64)(l->local + w * 32 * l->local_bytes);
      u32 before = state[w] & ~GOES_ON;
      did |= (state[w] & GOES_ON) != 0;
      state[w] = (u8)run_warp(l, frame_of(l, w), groups ? groups + w * l->n_groups : NULL, before);
      if (state[w] == STOPPED) {
        simt_quiet_end(l, &quiet);
        return BLOCK_STOPPED;
      }
      did |= state[w] != YIELDED;
      b->left -= state[w] == ENDED;
      moved |= state[w] == YIELDED;
      if (c->weak && state[w] == YIELDED) simt_weak_yield(c);
    }
    did |= !began;
    b->did |= did;
    waited = did ? 0 : waited + 1;
    if (moved && simt_hangs(l, &quiet, !did)) outcome = BLOCK_HANGS;
    else if (moved && patience && waited >= patience) outcome = BLOCK_WAITS;
    if (outcome != BLOCK_ENDED) break;
    began = 1;
    int opened = b->left && !moved ? release(l, state) : 1;
    if (!opened) outcome = BLOCK_STOPPED;
    if (opened == 2) outcome = BLOCK_AT_GRID;
    if (outcome != BLOCK_ENDED) break;
  }
  simt_quiet_end(l, &quiet);
  return outcome;
}

/* How the blocks of a launch may be run. */
u32 simt_way(const simt_launch *l) {
  const simt_context *c = &l->context;
  if (l->n_groups || l->warp_order || c->check || c->weak || c->cache) return WAY_ROUNDS;
  for (u32 i = 1; i <= l->n_points; i++) {
    const simt_point *p = &l->points[i];
    if (p->is_gather || p->checked || p->is_grid || p->threads) return WAY_ROUNDS;
  }
  return l->n_points ? WAY_IN_STEP : WAY_STRAIGHT;
}

static void start_unwatched(simt_launch *l) {
  simt_context *c = &l->context;
  empty_room(l);
  c->watched = c->attention = 0, c->sites = c->true_sites;
}

u32 simt_run_straight(simt_launch *l) {
  simt_context *c = &l->context;
  start_unwatched(l);
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    f->resume = 0, f->live = f->start;
    c->frame = f, c->local_host = (u64)(l->local + w * 32 * l->local_bytes);
    (void)l->kernel(c, f);
    if (c->budget < 0) return BLOCK_STOPPED;
  }
  return BLOCK_ENDED;
}

/* Warps wait at barriers that are not one, or threads have come to one beforehand: on with the rounds of those that are watched. */
static u32 out_of_step(simt_launch *l, simt_block *b, u64 patience) {
  b->left = b->did = 0, b->began = 1;
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    f->barrier_point = f->resume;
    b->state[w] = f->resume ? AT_BARRIER : ENDED;
    b->left += f->resume != 0;
  }
  return release(l, b->state) ? simt_run_rounds(l, b, patience) : BLOCK_STOPPED;
}

u32 simt_run_in_step(simt_launch *l, simt_block *b, u64 patience) {
  simt_context *c = &l->context;
  start_unwatched(l);
  memset(c->arrivals, 0, sizeof c->arrivals);
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = frame_of(l, w);
    f->resume = 0, f->live = f->start, f->arrived = f->waiting = f->barrier_point = f->conflict = f->predicate = 0;
  }
  for (u32 began = 0;; began = 1) {
    u32 point = 0, apart = 0, any = 0, all = 1, total = 0;
    for (u32 w = 0; w < l->n_warps; w++) {
      simt_frame *f = frame_of(l, w);
      if (began && !f->resume) continue;
      c->frame = f, c->local_host = (u64)(l->local + w * 32 * l->local_bytes);
      u32 here = f->resume = (u32)l->kernel(c, f);
      if (c->budget < 0) return BLOCK_STOPPED;
      if (!here) continue;
      apart |= point && here != point, point = here;
      u32 yes = f->predicate & f->live;
      any |= yes != 0, all &= yes == f->live, total += (u32)__builtin_popcount(yes);
    }
    if (!point) return BLOCK_ENDED;
    if (apart || c->arrivals[l->points[point].number & 15]) return out_of_step(l, b, patience);
    c->barrier_result = total | any << 30 | all << 31;
  }
}

/* Tells every warp which threads it has. */
void simt_set_up_frames(simt_launch *l) {
  u32 x = l->context.ntid[0], y = l->context.ntid[1];
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
}

/* Where the first lane waits of a block that waits. */
u32 simt_first_waiting(const simt_launch *l, const simt_block *b, u32 *warp, u32 *lane) {
  for (u32 w = 0; w < l->n_warps; w++) {
    const simt_frame *f = frame_of(l, w);
    u32 lanes = b->state[w] == YIELDED ? simt_yielded(f, l->points) : 0;
    if (!lanes) continue;
    *warp = w, *lane = (u32)__builtin_ctz(lanes);
    return f->site[*lane];
  }
  return 0;
}
