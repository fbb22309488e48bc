/* Runs the blocks of a launch: one after the other, as long as none waits for another.

   A block that only waits is left where it is, and the next one begins, in a room of its own. When all have begun, or as many as there
   is room for, those that wait take turns of a few rounds, in the order they began. Where a turn of each changes nothing, neither in a block nor in
   memory, nothing ever will: that is a fault. Blocks at a barrier of the grid go on when all of the launch are there. */
#include <stdlib.h>
#include <time.h>

#include "launch.h"

#define PATIENCE 64 /* rounds that a block only waits before others begin */
#define TURN 8      /* and when all have */
#define MOST_RESIDENT 4096
#define MOST_BYTES (1ull << 30) /* of rooms, where blocks need not all be there */

typedef struct {
  simt_room *rooms; /* the first is the launch's own */
  u32 n_rooms, room_rooms;
  simt_block *blocks; /* that have begun and not ended, in order */
  u32 n_blocks, room_blocks;
  u32 current; /* the room that the launch and its context name */
  u64 since;   /* when the blocks were last found to change nothing, in ns; 0: they did not */
} residents;

u64 simt_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* Nothing counted. The buffers that accesses were in last stay known where they are those of the last launch. */
static void set_up_sites(simt_launch *l) {
  simt_context *c = &l->context;
  if (l->new_shape || l->known_table != l->request.table) {
    memcpy(c->true_sites, l->fresh_sites, c->n_sites * sizeof *c->true_sites);
    l->known_table = l->request.table;
    return;
  }
  for (u32 i = 0; i < c->n_sites; i++) {
    simt_site *s = c->true_sites + i;
    s->sectors = s->waves = s->serial = 0, s->in_shared = s->in_local = 0;
    s->l1_hits = s->l2_hits = s->looked_up = 0;
  }
}

/* Nothing counted, nothing gone wrong. */
static void set_up(simt_launch *l) {
  simt_context *c = &l->context;
  const simt_request *r = &l->request;
  c->budget = r->budget, c->symbols = r->symbols, c->buffers = r->buffers, c->n_buffers = r->n_buffers;
  for (u32 k = 0; k < 3; k++) c->nctaid[k] = r->grid[k];
  c->cooperative = r->cooperative;
  c->shared_host = (u64)l->shared;
  c->clock = c->print_used = c->print_lost = 0;
  c->overread = r->overread;
  if (c->overread <= 255) memset(c->overreads, 0, sizeof(u64)); /* no rows */
  memset(c->fault, 0, sizeof *c->fault);
  c->met[0] = c->met[1] = 0;
  memset(c->counts, 0, l->n_counts * sizeof *c->counts);
  set_up_sites(l);
  if (l->new_shape) simt_set_up_frames(l);
  l->new_shape = 0, l->blocks_done = 0, l->halted = 0, l->placed = ~0ull;
}

/* Tells the context which block it is. */
void simt_place_block(simt_launch *l, u64 block) {
  simt_context *c = &l->context;
  if (block && block - 1 == l->placed) {
    /* Mostly it is the next one, and dividing takes as long as a short warp. */
    u32 k = 0;
    while (k < 2 && ++c->ctaid[k] == c->nctaid[k]) c->ctaid[k++] = 0;
    if (k == 2) c->ctaid[2]++;
  } else {
    u64 plane = (u64)c->nctaid[0] * c->nctaid[1];
    c->ctaid[0] = (u32)(block % c->nctaid[0]);
    c->ctaid[1] = (u32)(block / c->nctaid[0] % c->nctaid[1]);
    c->ctaid[2] = (u32)(block / plane);
  }
  c->block_linear = (u32)block, l->placed = block;
}

static u32 run_block(simt_launch *l, simt_block *b, u32 way, u64 patience) {
  simt_place_block(l, b->number);
  if (way == WAY_STRAIGHT) return simt_run_straight(l);
  return way == WAY_IN_STEP ? simt_run_in_step(l, b, patience) : simt_run_rounds(l, b, patience);
}

void simt_run_block(simt_launch *l, u64 block, u32 way) {
  simt_block one = {.number = block};
  (void)run_block(l, &one, way, 0);
}

/* -- rooms ------------------------------------------------------------------------------------------------------------ */

static u64 rounded(u64 bytes) { return (bytes + 127) / 64 * 64; }

static u64 room_bytes(const simt_launch *l) {
  return rounded(l->n_warps * l->frame_size) + rounded(l->n_warps * 32 * l->local_bytes) + rounded(l->context.shared_size + 2 * ABI_SHARED_SLACK);
}

/* Makes a room the one that runs. */
static void enter(simt_launch *l, residents *r, u32 number) {
  simt_context *c = &l->context;
  const simt_room *room = &r->rooms[number];
  r->current = number;
  l->frames = room->frames, l->local = room->local, l->shared = room->shared;
  c->shared_host = (u64)l->shared;
  if (c->check) simt_check_take(c, room->check);
  if (c->weak) simt_weak_take(c, room->weak);
}

/* The launch's own room. 0: there is no memory. */
static int open_rooms(simt_launch *l, residents *r) {
  simt_context *c = &l->context;
  r->room_rooms = 16;
  if (!(r->rooms = calloc(r->room_rooms, sizeof *r->rooms))) return 0;
  simt_room *own = r->rooms;
  *own = (simt_room){.frames = l->frames, .local = l->local, .shared = l->shared, .is_taken = 1};
  r->n_rooms = 1;
  if (c->check && !(own->check = simt_check_state_new(c, 0))) return 0;
  if (c->weak && !(own->weak = simt_weak_state_new(c, 0))) return 0;
  return 1;
}

/* Enters a room that no block has. 0: there is none. */
static int find_room(simt_launch *l, residents *r) {
  simt_context *c = &l->context;
  for (u32 i = 0; i < r->n_rooms; i++)
    if (!r->rooms[i].is_taken) {
      enter(l, r, i);
      r->rooms[i].is_taken = 1;
      return 1;
    }
  if (!c->cooperative && (r->n_rooms >= MOST_RESIDENT || r->n_rooms * room_bytes(l) > MOST_BYTES)) return 0;
  if (r->n_rooms == r->room_rooms) {
    simt_room *grown = realloc(r->rooms, 2ull * r->room_rooms * sizeof *grown);
    if (!grown) return 0;
    r->rooms = grown, r->room_rooms *= 2;
  }
  simt_room made = {0};
  if (posix_memalign((void **)&made.memory, 64, room_bytes(l) + 64)) return 0;
  made.frames = made.memory;
  made.local = made.frames + rounded(l->n_warps * l->frame_size);
  made.shared = made.local + rounded(l->n_warps * 32 * l->local_bytes) + ABI_SHARED_SLACK;
  if ((c->check && !(made.check = simt_check_state_new(c, r->n_rooms))) || (c->weak && !(made.weak = simt_weak_state_new(c, r->n_rooms)))) {
    simt_check_state_free(made.check), free(made.memory);
    return 0;
  }
  made.is_taken = 1;
  r->rooms[r->n_rooms++] = made;
  enter(l, r, r->n_rooms - 1);
  simt_set_up_frames(l);
  return 1;
}

static void close_rooms(simt_launch *l, residents *r) {
  if (r->n_rooms && r->current) enter(l, r, 0);
  for (u32 i = 0; i < r->n_rooms; i++) {
    simt_check_state_free(r->rooms[i].check), simt_weak_state_free(r->rooms[i].weak);
    free(r->rooms[i].memory);
  }
  free(r->rooms), free(r->blocks);
}

/* -- blocks ----------------------------------------------------------------------------------------------------------- */

/* Keeps what the context knows of a block that others run beside. 0: there is no memory. */
static int leave(simt_launch *l, residents *r, simt_block *b) {
  const simt_context *c = &l->context;
  memcpy(b->arrivals, c->arrivals, sizeof b->arrivals);
  b->watched = c->watched, b->barrier_result = c->barrier_result, b->room = r->current;
  if (r->n_blocks == r->room_blocks) {
    u32 room = r->room_blocks ? 2 * r->room_blocks : 16;
    simt_block *grown = realloc(r->blocks, room * sizeof *grown);
    if (!grown) return 0;
    r->blocks = grown, r->room_blocks = room;
  }
  r->blocks[r->n_blocks++] = *b;
  return 1;
}

static void resume(simt_launch *l, residents *r, simt_block *b) {
  simt_context *c = &l->context;
  enter(l, r, b->room);
  simt_place_block(l, b->number);
  memcpy(c->arrivals, b->arrivals, sizeof c->arrivals);
  c->watched = b->watched, c->barrier_result = b->barrier_result;
  c->attention = c->check || c->watched || c->weak;
  c->sites = c->attention ? c->blind_sites : c->true_sites;
  c->frame = NULL;
  if (c->watched) simt_trace(c, TRACE_THREAD_BLOCK, c->block_linear, 0);
}

/* Threads that wait and will wait for ever: the first block's, where one waits for more than the grid. */
static void stop_waiting(simt_launch *l, residents *r) {
  simt_context *c = &l->context;
  for (u32 i = 0; i < r->n_blocks; i++) {
    simt_block *b = &r->blocks[i];
    u32 warp = 0, lane = 0, point = b->at_grid ? 0 : simt_first_waiting(l, (resume(l, r, b), b), &warp, &lane);
    if (!point) continue;
    c->frame = (simt_frame *)(l->frames + warp * l->frame_size);
    simt_fault_at(c, FAULT_WAITS, point, lane, 0, 0, 0);
    return;
  }
  resume(l, r, r->blocks);
  for (u32 w = 0; w < l->n_warps; w++) {
    simt_frame *f = (simt_frame *)(l->frames + w * l->frame_size);
    if (!f->live) continue;
    c->frame = f;
    simt_fault_at(c, FAULT_ALONE, f->resume, (u32)__builtin_ctz(f->live), 0, 0, 0);
    return;
  }
}

/* All blocks of the launch are at a barrier of the grid: they go on. */
static void open_grid(simt_launch *l, residents *r) {
  simt_context *c = &l->context;
  struct simt_check_state **checks = c->check ? malloc(r->n_rooms * sizeof *checks) : NULL;
  struct simt_weak_state **weak = c->weak ? malloc(r->n_rooms * sizeof *weak) : NULL;
  for (u32 i = 0; i < r->n_rooms; i++) {
    if (checks) checks[i] = r->rooms[i].check;
    if (weak) weak[i] = r->rooms[i].weak;
  }
  if (checks) simt_check_grid(c, checks, r->n_rooms);
  if (weak) simt_weak_grid(c, weak, r->n_rooms);
  free(checks), free(weak);
  for (u32 i = 0; i < r->n_blocks; i++) r->blocks[i].at_grid = 0;
}

/* A turn of every block that has begun. 0: the launch is over. */
static int take_turns(simt_launch *l, residents *r, u64 n_blocks) {
  simt_context *c = &l->context;
  u32 moved = 0, kept = 0, at_grid = 0;
  for (u32 i = 0; i < r->n_blocks; i++) {
    simt_block *b = &r->blocks[i];
    if (!b->at_grid) {
      resume(l, r, b);
      u32 outcome = simt_run_rounds(l, b, TURN);
      if (outcome == BLOCK_STOPPED) return 0;
      moved |= b->did || outcome != BLOCK_HANGS;
      if (outcome == BLOCK_ENDED) {
        l->blocks_done++, r->rooms[b->room].is_taken = 0;
        continue;
      }
      memcpy(b->arrivals, c->arrivals, sizeof b->arrivals);
      b->barrier_result = c->barrier_result, b->at_grid = outcome == BLOCK_AT_GRID;
    }
    at_grid += b->at_grid;
    r->blocks[kept++] = *b;
  }
  r->n_blocks = kept;
  if (moved) r->since = 0;
  if (kept && at_grid == n_blocks) {
    open_grid(l, r);
    return 1;
  }
  if (moved || !kept) return 1;
  /* The host may help those that wait for memory. */
  if (l->patience_ns && at_grid < kept) {
    u64 now = simt_now_ns();
    if (!r->since) r->since = now;
    if (now - r->since <= l->patience_ns) return 1;
  }
  stop_waiting(l, r);
  return 0;
}

static void end(simt_launch *l) {
  simt_context *c = &l->context;
  if (c->weak) simt_weak_end(c);
  if (c->budget >= 0 || c->fault->kind) return;
  c->fault->kind = FAULT_ENDLESS, c->fault->block = c->block_linear;
  c->fault->thread = c->frame->first + (c->frame->live ? (u32)__builtin_ctz(c->frame->live) : 0);
}

/* Runs the launch, or what is left of it; the fault record says how it ended. */
void simt_run(simt_launch *l) {
  simt_context *c = &l->context;
  if (!l->goes_on) set_up(l);
  l->goes_on = 0;
  u64 n_blocks = l->n_order ? l->n_order : (u64)c->nctaid[0] * c->nctaid[1] * c->nctaid[2];
  if (l->pause_ns == 1) return;
  u64 until = l->pause_ns ? simt_now_ns() + l->pause_ns : 0;
  residents r = {0};
  u32 is_left = 0, way = simt_way(l);
  for (u64 next = l->blocks_done; next < n_blocks || r.n_blocks;) {
    if (next == n_blocks || (is_left && !find_room(l, &r))) {
      if (!take_turns(l, &r, n_blocks)) break;
      continue;
    }
    simt_block one = {.number = l->block_order ? l->block_order[next] : next};
    next++;
    u32 outcome = run_block(l, &one, way, n_blocks > 1 ? PATIENCE : 0);
    if (outcome == BLOCK_STOPPED) break;
    if (outcome == BLOCK_ENDED) {
      l->blocks_done++;
      if (is_left) r.rooms[r.current].is_taken = 0;
      if (until && !r.n_blocks && simt_now_ns() > until) break;
      continue;
    }
    one.at_grid = outcome == BLOCK_AT_GRID;
    if ((!is_left && !open_rooms(l, &r)) || !leave(l, &r, &one)) {
      c->frame = (simt_frame *)l->frames;
      simt_fault_at(c, FAULT_WAITS, 1, 0, 0, 0, 0);
      break;
    }
    is_left = 1;
  }
  if (l->blocks_done == n_blocks || c->budget < 0) end(l);
  close_rooms(l, &r);
}

u64 simt_launch_bytes(void) { return sizeof(simt_launch); }
