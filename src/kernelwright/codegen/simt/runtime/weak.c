/* Weak memory: what a launch may see where no fence, barrier or atomic orders its accesses to global memory.

   Off it is sequentially consistent. On, and as the seed has it:

   a store may wait      its own thread sees it at once, others of the block once both have passed a barrier or a fence for
                         the block, all threads once its thread (or, behind a barrier, any thread of the block) executes a fence
                         for the device. What waits at the end of the launch comes true then, word by word.
   a plain load may be   it gives what was there before, unless its thread has acquired the store: it read, by an atomic or a
   late                  volatile access, what was written behind a fence that followed the store, and has had a fence since;
                         or a thread that did waited with it at a barrier. Within a block barriers and narrower fences do.

   Stores to one word keep their order within a block; atomics and what is volatile act on memory, and what their thread stored
   there before them comes true first. So message passing and store buffering show what PTX's model allows without fences,
   across blocks and within one, and nothing that fences forbid. Times stand for what has been seen: a thread that has seen a store
   has seen all that came true before it (Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA
   PTX Memory Consistency Model", ASPLOS 2019); ``tests/simt/test_weak.py`` enumerates both. Load buffering is not modelled. */
#include <stdlib.h>

#include "simt.h"

#define SLOTS 65536
enum { NEVER, ALWAYS_WAITS, BY_CHANCE };

/* Up to when what came true is passed on to the device, and to the block. */
typedef struct {
  u64 device, block;
} simt_seen;

/* Some bytes of an aligned 8-byte word that a thread has stored and not all can see. ``told``: when the block could. */
typedef struct simt_waiting {
  u64 value, told;
  simt_seen released; /* of one that signals: what its thread had fenced */
  u32 block;
  u16 thread;
  u8 mask, of_block, strong, gone;
  struct simt_waiting *older;
  struct simt_word *home;
} simt_waiting;

/* What a word held before a store came true. ``told``: when its block could see it. */
typedef struct simt_past {
  u64 value, time, told;
  u32 block;
  u16 thread;
  u8 mask;
  struct simt_past *before;
} simt_past;

typedef struct simt_word {
  u64 address;
  simt_waiting *newest;
  simt_past *last;
  simt_seen released; /* what a fence acquires once this was read */
  struct simt_word *next;
} simt_word;

typedef struct simt_weak {
  u64 limit, used, random, time;
  u32 late_loads, plain_waits, strong_waits, incomplete;
  u32 n_threads;
  simt_seen *seen, *read, *fenced; /* per thread: what it sees, what its next fence acquires, what it releases */
  simt_waiting **current;        /* of the block that runs, in order */
  u64 n_current, room_current;
  simt_word *words[SLOTS];
  void **chunks;
  u64 n_chunks, room_chunks, left;
  u8 *at;
} simt_weak;

#define CHUNK (1u << 20)

static void *take(simt_weak *w, u64 bytes) {
  if (w->left < bytes) {
    if (w->used + CHUNK > w->limit) return w->incomplete = 1, NULL;
    if (w->n_chunks == w->room_chunks) {
      u64 room = w->room_chunks ? 2 * w->room_chunks : 64;
      void **grown = realloc(w->chunks, room * sizeof *grown);
      if (!grown) return w->incomplete = 1, NULL;
      w->chunks = grown, w->room_chunks = room;
    }
    void *made = calloc(1, CHUNK);
    if (!made) return w->incomplete = 1, NULL;
    w->chunks[w->n_chunks++] = made, w->at = made, w->left = CHUNK, w->used += CHUNK;
  }
  void *found = w->at;
  w->at += bytes, w->left -= bytes;
  return found;
}

/* ``seed``: of the choices; its lowest bits say which of them there are. */
simt_weak *simt_weak_new(u32 n_threads, u64 seed, u64 limit) {
  simt_weak *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  static const u32 plain[4] = {ALWAYS_WAITS, ALWAYS_WAITS, BY_CHANCE, BY_CHANCE}, strong[4] = {NEVER, ALWAYS_WAITS, NEVER, BY_CHANCE};
  w->plain_waits = plain[seed & 3], w->strong_waits = strong[seed & 3], w->late_loads = seed >> 2 & 1;
  w->random = (seed + 1) * 0x9E3779B97F4A7C15ull, w->limit = limit, w->n_threads = n_threads, w->time = 1;
  w->seen = calloc(3 * (u64)n_threads, sizeof(simt_seen));
  if (!w->seen) return free(w), NULL;
  w->read = w->seen + n_threads, w->fenced = w->read + n_threads;
  return w;
}

u32 simt_weak_incomplete(const simt_weak *w) { return w->incomplete; }

void simt_weak_free(simt_weak *w) {
  for (u64 i = 0; i < w->n_chunks; i++) free(w->chunks[i]);
  free(w->chunks), free(w->current), free(w->seen), free(w);
}

static u32 chance(simt_weak *w, u32 one_in) {
  w->random ^= w->random << 13, w->random ^= w->random >> 7, w->random ^= w->random << 17;
  return (w->random >> 33) % one_in == 0;
}

static simt_word *word_at(simt_weak *w, u64 address, u32 make) {
  u64 slot = (address / 8 * 0x9E3779B97F4A7C15ull) >> 48;
  for (simt_word *o = w->words[slot]; o; o = o->next)
    if (o->address == address) return o;
  simt_word *made = make ? take(w, sizeof *made) : NULL;
  if (made) made->address = address, made->next = w->words[slot], w->words[slot] = made;
  return made;
}

static void put(u64 address, u64 value, u32 mask) {
  u8 bytes[8];
  memcpy(bytes, &value, 8);
  for (u32 i = 0; i < 8; i++)
    if (mask >> i & 1) ((u8 *)address)[i] = bytes[i];
}

static u64 got(u64 address, u32 mask) {
  u8 bytes[8] = {0};
  u64 value;
  for (u32 i = 0; i < 8; i++)
    if (mask >> i & 1) bytes[i] = ((u8 *)address)[i];
  memcpy(&value, bytes, 8);
  return value;
}

static void at_least(simt_seen *one, const simt_seen *other) {
  if (one->device < other->device) one->device = other->device;
  if (one->block < other->block) one->block = other->block;
}

/* -- stores that come true --------------------------------------------------------------------------------------------- */

static void remember(simt_weak *w, simt_word *o, u32 mask, u32 block, u32 thread, u64 told) {
  simt_past *p = o ? take(w, sizeof *p) : NULL;
  if (!p) return;
  p->value = got(o->address, mask), p->mask = (u8)mask, p->block = block, p->thread = (u16)thread;
  p->time = ++w->time, p->told = told ? told : p->time, p->before = o->last, o->last = p;
}

/* Makes it true, and before it what its block stored there earlier. */
static void come_true(simt_weak *w, simt_waiting *e) {
  while (!e->gone) {
    simt_waiting *first = e;
    for (simt_waiting *o = e->older; o; o = o->older) {
      if (o->block != e->block) continue;
      if (o->gone) break;
      first = o;
    }
    first->gone = 1;
    remember(w, first->home, first->mask, first->block, first->thread, first->told);
    put(first->home->address, first->value, first->mask);
    if (first->strong) first->home->released = first->released;
  }
}

static void drop_gone(simt_weak *w) {
  u64 n = 0;
  for (u64 i = 0; i < w->n_current; i++)
    if (!w->current[i]->gone) w->current[n++] = w->current[i];
  w->n_current = n;
}

static u32 is_own(const simt_waiting *e, const simt_context *c, u32 thread) {
  return !e->gone && e->block == c->block_linear && (e->thread == thread || e->of_block);
}

static void true_in_word(simt_context *c, simt_word *o, u32 thread) {
  for (simt_waiting *e = o->newest; e; e = e->older)
    if (is_own(e, c, thread)) come_true(c->weak, e);
}

static void store_word(simt_context *c, u32 thread, u64 address, u64 value, u32 mask, u32 strong) {
  simt_weak *w = c->weak;
  u32 how = strong ? w->strong_waits : w->plain_waits;
  simt_word *o = word_at(w, address, 1);
  simt_waiting *last = o ? o->newest : NULL;
  if (last && how != NEVER && !last->gone && last->block == c->block_linear && last->thread == thread && !last->of_block &&
      last->strong == strong) {
    u8 bytes[8], piece[8];
    memcpy(bytes, &last->value, 8), memcpy(piece, &value, 8);
    for (u32 i = 0; i < 8; i++)
      if (mask >> i & 1) bytes[i] = piece[i];
    memcpy(&last->value, bytes, 8), last->mask |= (u8)mask, last->released = w->fenced[thread];
    return;
  }
  simt_waiting *e = o && (how == ALWAYS_WAITS || (how == BY_CHANCE && chance(w, 2))) ? take(w, sizeof *e) : NULL;
  if (e && w->n_current == w->room_current) {
    u64 room = w->room_current ? 2 * w->room_current : 1024;
    simt_waiting **grown = realloc(w->current, room * sizeof *grown);
    if (grown) w->current = grown, w->room_current = room;
    else e = NULL, w->incomplete = 1;
  }
  if (!e) {
    if (o) true_in_word(c, o, thread), remember(w, o, mask, c->block_linear, thread, 0);
    if (o && strong) o->released = w->fenced[thread];
    put(address, value, mask);
    return;
  }
  e->value = value, e->mask = (u8)mask, e->block = c->block_linear, e->thread = (u16)thread, e->strong = (u8)strong;
  e->released = w->fenced[thread];
  e->home = o, e->older = o->newest, o->newest = e;
  w->current[w->n_current++] = e;
}

void simt_weak_store(simt_context *c, u32 lane, u64 address, const u8 *data, u32 bytes, u32 strong) {
  for (u32 done = 0; done < bytes;) {
    u32 at = (address + done) % 8, part = 8 - at < bytes - done ? 8 - at : bytes - done;
    u8 whole[8] = {0};
    u64 value;
    memcpy(whole + at, data + done, part), memcpy(&value, whole, 8);
    store_word(c, simt_thread_of(c, lane), address + done - at, value, ((1u << part) - 1) << at, strong);
    done += part;
  }
}

/* -- loads that are late ----------------------------------------------------------------------------------------------- */

static u64 seen_word(simt_context *c, u32 thread, u64 address, u64 now, u32 strong) {
  simt_weak *w = c->weak;
  simt_word *o = word_at(w, address, 0);
  if (!o) return now;
  u8 bytes[8], piece[8];
  memcpy(bytes, &now, 8);
  if (strong) at_least(&w->read[thread], &o->released);
  u32 settled = strong || !w->late_loads ? 255 : 0;
  for (simt_past *p = o->last; p && settled != 255; p = p->before) {
    u32 same = p->block == c->block_linear;
    if ((same && p->thread == thread) || (same ? p->told <= w->seen[thread].block : p->time <= w->seen[thread].device)) {
      settled |= p->mask;
      continue;
    }
    memcpy(piece, &p->value, 8);
    for (u32 i = 0; i < 8; i++)
      if (p->mask & ~settled & (1u << i)) bytes[i] = piece[i];
  }
  /* What waits: the newest it can see. */
  u32 have = 0;
  for (simt_waiting *e = o->newest; e && have != 255; e = e->older) {
    if (!is_own(e, c, thread) || (e->thread != thread && !strong && w->late_loads && e->told > w->seen[thread].block)) continue;
    memcpy(piece, &e->value, 8);
    for (u32 i = 0; i < 8; i++)
      if (e->mask & ~have & (1u << i)) bytes[i] = piece[i];
    if (strong && e->strong) at_least(&w->read[thread], &e->released);
    have |= e->mask;
  }
  memcpy(&now, bytes, 8);
  return now;
}

/* ``data``: what memory holds; it becomes what the thread sees. */
void simt_weak_load(simt_context *c, u32 lane, u64 address, u8 *data, u32 bytes, u32 strong) {
  for (u32 done = 0; done < bytes;) {
    u32 at = (address + done) % 8, part = 8 - at < bytes - done ? 8 - at : bytes - done;
    u8 whole[8] = {0};
    u64 value;
    memcpy(whole + at, data + done, part), memcpy(&value, whole, 8);
    value = seen_word(c, simt_thread_of(c, lane), address + done - at, value, strong);
    memcpy(whole, &value, 8), memcpy(data + done, whole + at, part);
    done += part;
  }
}

/* Before an atomic acts on memory. */
void simt_weak_atomic(simt_context *c, u32 lane, u64 address, u32 bytes) {
  u64 start = address - address % 8;
  simt_word *o = word_at(c->weak, start, 1);
  u32 thread = simt_thread_of(c, lane);
  if (!o) return;
  true_in_word(c, o, thread);
  remember(c->weak, o, ((1u << bytes) - 1) << address % 8 & 255, c->block_linear, thread, 0);
  /* It reads what was released, and passes it on together with what its own thread releases. */
  at_least(&c->weak->read[thread], &o->released);
  at_least(&o->released, &c->weak->fenced[thread]);
}

/* -- order ------------------------------------------------------------------------------------------------------------- */

/* ``width``: 0 for the block, more for the device. */
void simt_fence(simt_context *c, u32 width, u32 mask) {
  simt_weak *w = c->weak;
  if (!w) return;
  w->time++;
  u32 first = c->frame->first;
  for (u64 i = 0; i < w->n_current; i++) {
    simt_waiting *e = w->current[i];
    u32 own = e->thread / 32 == first / 32 && mask >> e->thread % 32 & 1;
    if (width && (own || e->of_block)) come_true(w, e);
    else if (own && !e->of_block) e->of_block = 1, e->told = w->time;
  }
  if (width) drop_gone(w);
  EACH_LANE(l, mask) {
    simt_seen *seen = &w->seen[first + l], *fenced = &w->fenced[first + l], acquired = w->read[first + l];
    if (!width) acquired.device = 0;
    at_least(seen, &acquired);
    fenced->block = w->time;
    if (width) fenced->device = w->time;
  }
}

/* Threads have waited for each other: all of the block, or lanes of the running warp. */
static void waited(simt_weak *w, u32 first, u32 n, u32 lanes) {
  simt_seen seen = {0, 0}, read = seen, fenced = seen;
  w->time++;
  for (u64 i = 0; i < w->n_current; i++) {
    simt_waiting *e = w->current[i];
    if (e->thread - first < n && (n > 32 || lanes >> (e->thread - first) & 1) && !e->of_block) e->of_block = 1, e->told = w->time;
  }
  for (u32 t = first; t < first + n; t++)
    if (n > 32 || lanes >> (t - first) & 1) at_least(&seen, &w->seen[t]), at_least(&read, &w->read[t]), at_least(&fenced, &w->fenced[t]);
  seen.block = w->time;
  for (u32 t = first; t < first + n; t++)
    if (n > 32 || lanes >> (t - first) & 1) w->seen[t] = seen, w->read[t] = read, w->fenced[t] = fenced;
}

void simt_weak_barrier(simt_context *c) { waited(c->weak, 0, c->weak->n_threads, ~0u); }

void simt_weak_warp(simt_context *c, u32 lanes) {
  u32 first = c->frame->first, left = c->weak->n_threads - first;
  waited(c->weak, first, left < 32 ? left : 32, lanes);
}

/* A warp lets others run: what signals comes true, and the rest now and then, so that nothing waits for ever. */
void simt_weak_yield(simt_context *c) {
  simt_weak *w = c->weak;
  u32 all = chance(w, 8);
  for (u64 i = 0; i < w->n_current; i++)
    if (all || w->current[i]->strong) come_true(w, w->current[i]);
  drop_gone(w);
}

/* Bulk copies see and leave everything as it is. */
void simt_weak_settle(simt_context *c) {
  simt_weak *w = c->weak;
  for (u64 i = 0; i < w->n_current; i++) come_true(w, w->current[i]);
  w->n_current = 0;
}

void simt_weak_block(simt_context *c) {
  simt_weak *w = c->weak;
  w->n_current = 0;
  memset(w->seen, 0, 3 * (u64)w->n_threads * sizeof(simt_seen));
}

static void oldest_first(simt_waiting *e) {
  simt_waiting *kept = NULL;
  while (e) {
    simt_waiting *older = e->older;
    e->older = kept, kept = e, e = older;
  }
  for (; kept; kept = kept->older)
    if (!kept->gone) put(kept->home->address, kept->value, kept->mask);
}

/* The launch ends. */
void simt_weak_end(simt_context *c) {
  simt_weak *w = c->weak;
  for (u32 slot = 0; slot < SLOTS; slot++)
    for (simt_word *o = w->words[slot]; o; o = o->next) oldest_first(o->newest), o->newest = NULL;
}

/* What the threads of one block have seen, while others run. What waits of a block that is left comes true. */
typedef struct simt_weak_state {
  simt_seen *seen;
  u32 is_own, pad;
} simt_weak_state;

simt_weak_state *simt_weak_state_new(simt_context *c, u32 room) {
  simt_weak_state *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->is_own = room != 0;
  s->seen = room ? calloc(3 * (u64)c->weak->n_threads, sizeof(simt_seen)) : c->weak->seen;
  if (!s->seen) return free(s), NULL;
  return s;
}

void simt_weak_state_free(simt_weak_state *s) {
  if (s && s->is_own) free(s->seen);
  free(s);
}

void simt_weak_take(simt_context *c, simt_weak_state *s) {
  simt_weak *w = c->weak;
  if (w->seen != s->seen) simt_weak_settle(c);
  w->seen = s->seen, w->read = w->seen + w->n_threads, w->fenced = w->read + w->n_threads;
}

/* A barrier of the grid opens: every thread has seen, and passes on, all that was done before it. */
void simt_weak_grid(simt_context *c, simt_weak_state *const *states, u32 n) {
  simt_weak *w = c->weak;
  simt_weak_settle(c);
  w->time++;
  for (u32 i = 0; i < n; i++)
    for (u32 t = 0; t < 3 * w->n_threads; t++) states[i]->seen[t] = (simt_seen){w->time, w->time};
}
