/* Races and reads of unwritten memory, by happens-before.

   Two accesses to the same byte race when they come from different threads, at least one writes, not both are atomic, and
   nothing orders them: no barrier of the block, no warp synchronisation, no chain of atomics. The definition is that of
   ``device/reference/race_watch.py``; of the readers of a word only those are kept that stand for all (see check.h).
   Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", 2009. */
#include <stdlib.h>

#include "check.h"

#define FIRST_SHIFT 56 /* 256 slots for pages: most launches touch few, and clearing a large table takes longer than they do */
/* Limits of the search in ``passed``: of its steps in a launch, some seconds, and of its recursion, what a stack of 8 MB holds. */
#define MOST_STEPS (1ull << 30)
#define MOST_DEPTH 20000

/* What is known of a byte. The last two are kept only when it is asked what a launch touches. */
enum { FLAG_WRITTEN = 1, FLAG_STORED = 2, FLAG_READ = 4 };

/* -- memory ---------------------------------------------------------------------------------------------------------- */

static void *take(simt_check *k, u64 bytes) {
  if (k->used + bytes > k->limit) {
    k->incomplete = 1;
    return NULL;
  }
  if (k->n_blocks == k->room_blocks) {
    u64 room = k->room_blocks ? 2 * k->room_blocks : 1024;
    void **grown = realloc(k->blocks, room * sizeof *grown);
    if (!grown) {
      k->incomplete = 1;
      return NULL;
    }
    k->blocks = grown, k->room_blocks = room;
  }
  void *made = calloc(1, bytes);
  if (!made) k->incomplete = 1;
  else k->blocks[k->n_blocks++] = made, k->used += bytes;
  return made;
}

simt_check *simt_check_new(u32 n_threads, u32 races, u32 unwritten, u64 limit, u32 max_findings) {
  simt_check *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  u32 warps = (n_threads + 31) / 32;
  k->races = races, k->unwritten = unwritten, k->limit = limit, k->n_threads = n_threads, k->max_findings = max_findings;
  k->findings = calloc(max_findings, sizeof *k->findings);
  k->times = calloc(n_threads, sizeof *k->times);
  k->known = calloc((u64)warps * 1024, sizeof *k->known);
  k->knows = calloc(n_threads, sizeof *k->knows);
  k->page_shift = FIRST_SHIFT;
  k->pages = calloc(1ull << (64 - FIRST_SHIFT), sizeof *k->pages);
  k->pool_room = 1024, k->pool_n = 4;
  k->pool = calloc(k->pool_room, sizeof *k->pool);
  return k;
}

void simt_check_free(simt_check *k) {
  for (u64 i = 0; i < k->n_blocks; i++) free(k->blocks[i]);
  free(k->blocks), free(k->findings), free(k->times), free(k->known), free(k->knows), free(k->pages), free(k->logs);
  free(k->pool), free(k);
}

/* ``n`` neighbouring cells of the pool; 0 when there is no room. The pool may move. */
static u32 cells(simt_check *k, u32 n) {
  if (k->pool_n + n > k->pool_room) {
    u64 more = (u64)k->pool_room * sizeof *k->pool;
    if (k->used + more > k->limit || k->pool_room >= 1u << 30) {
      k->incomplete = 1;
      return 0;
    }
    simt_cell *grown = realloc(k->pool, 2 * more);
    if (!grown) {
      k->incomplete = 1;
      return 0;
    }
    memset(grown + k->pool_room, 0, more);
    k->pool = grown, k->pool_room *= 2, k->used += more;
  }
  u32 at = k->pool_n;
  k->pool_n += n;
  return at;
}

static u64 slot_of(const simt_check *k, u64 number) { return (number * 0x9E3779B97F4A7C15ull) >> k->page_shift; }

/* Twice the slots. Without memory for them it takes longer to find a page. */
static void widen(simt_check *k) {
  u64 slots = 1ull << (64 - k->page_shift);
  simt_page **wider = calloc(2 * slots, sizeof *wider);
  if (!wider) return;
  k->page_shift--;
  for (u64 i = 0; i < slots; i++)
    for (simt_page *p = k->pages[i], *next; p; p = next) {
      u64 slot = slot_of(k, p->number);
      next = p->next, p->next = wider[slot], wider[slot] = p;
    }
  free(k->pages), k->pages = wider;
}

static simt_page *page_of(simt_check *k, u64 word, u32 make) {
  u64 number = word / PAGE_WORDS;
  for (simt_page *p = k->pages[slot_of(k, number)]; p; p = p->next)
    if (p->number == number) return p;
  if (!make) return NULL;
  simt_page *made = take(k, sizeof *made);
  if (!made) return NULL;
  if (++k->n_pages > 1ull << (64 - k->page_shift)) widen(k);
  u64 slot = slot_of(k, number);
  made->number = number, made->next = k->pages[slot], k->pages[slot] = made;
  return made;
}

/* -- knowledge of threads ---------------------------------------------------------------------------------------------- */

static u32 thread_of(const simt_context *c, u32 lane) { return c->frame->first + lane; }

/* Whether ``a`` is part of the knowledge ``of``. Where many threads poll, knowledge grows with the square of their number: where
   the search takes too long, the accesses count as ordered, and the check of the launch as incomplete. */
static u32 passed(simt_check *k, simt_knowledge *of, const simt_record *a, u32 depth) {
  if (!of || of->stamp == k->stamp) return 0;
  if (k->steps >= MOST_STEPS || depth >= MOST_DEPTH) {
    k->incomplete = 1;
    return 1;
  }
  of->stamp = k->stamp;
  if (!of->log) {
    for (u64 i = 0; i < of->n; i++)
      if (k->steps++, passed(k, of->parts[i], a, depth + 1)) return 1;
    return 0;
  }
  for (u64 i = of->n; i-- > 0; k->steps++) {
    const simt_passage *e = &of->log->entries[i];
    if (e->who.block == a->block && ((e->who.thread == a->thread && e->who.time >= a->time) || e->who.epoch > a->epoch)) return 1;
    if (e->lanes && e->who.block == a->block && e->who.thread / WARP == a->thread / WARP && e->lanes[a->thread % WARP] > a->time) return 1;
    if (passed(k, e->knew, a, depth + 1)) return 1;
  }
  return 0;
}

static u32 is_ordered(simt_context *c, simt_check *k, const simt_record *a, u32 thread) {
  if (a->block == c->block_linear) {
    if (a->thread == thread || a->epoch < k->epoch) return 1;
    if (a->thread / 32 == thread / 32 && k->known[(u64)thread * 32 + a->thread % 32] >= a->time + 1) return 1;
  }
  if (!k->knows[thread]) return 0;
  k->stamp++;
  return passed(k, k->knows[thread], a, 0);
}

/* Who came by an address; NULL when there is no room. */
static simt_log *log_of(simt_check *k, u64 address) {
  if (!k->logs && !(k->logs = calloc(LOG_SLOTS, sizeof *k->logs))) {
    k->incomplete = 1;
    return NULL;
  }
  u64 slot = (address / 4 * 0x9E3779B97F4A7C15ull) >> 48;
  simt_log *log = k->logs[slot];
  while (log && log->address != address) log = log->next;
  if (!log) {
    log = take(k, sizeof *log);
    if (!log) return NULL;
    log->address = address, log->next = k->logs[slot], k->logs[slot] = log;
  }
  return log;
}

/* What a thread knows of its warp, as it is now; what it came by with last, where that is the same. */
static const u32 *known_lanes(const simt_context *c, simt_check *k, const simt_log *log, u32 thread) {
  const u32 *row = k->known + (u64)thread * WARP;
  u32 any = 0;
  for (u32 i = 0; i < WARP; i++) any |= row[i];
  if (!any) return NULL;
  const simt_passage *last = log->n ? &log->entries[log->n - 1] : NULL;
  if (last && last->lanes && last->who.block == c->block_linear && last->who.thread == thread && !memcmp(last->lanes, row, WARP * sizeof *row))
    return last->lanes;
  u32 *kept = take(k, WARP * sizeof *row);
  if (kept) memcpy(kept, row, WARP * sizeof *row);
  return kept;
}

/* This thread and what it knows join those that came by before. */
static void leave(simt_context *c, simt_check *k, simt_log *log, u32 thread, simt_knowledge *knew) {
  if (log->n == log->room) {
    u64 room = log->room ? 2 * log->room : 4;
    simt_passage *grown = take(k, room * sizeof *grown);
    if (!grown) return;
    if (log->n) memcpy(grown, log->entries, log->n * sizeof *grown);
    log->entries = grown, log->room = room;
  }
  simt_record who = {c->block_linear, (u16)thread, 0, k->times[thread], k->epoch, 0};
  log->entries[log->n] = (simt_passage){who, knew, known_lanes(c, k, log, thread)};
  log->n++;
  k->times[thread]++;
}

/* This thread knows what all knew that came by so far. */
static void learn(simt_check *k, simt_log *log, u32 thread) {
  simt_knowledge *learned = take(k, sizeof *learned + 2 * sizeof(simt_knowledge *));
  simt_knowledge *both = take(k, sizeof *both);
  if (!learned || !both) return;
  both->log = log, both->n = log->n;
  learned->parts = (simt_knowledge **)(learned + 1);
  learned->parts[learned->n++] = both;
  if (k->knows[thread]) learned->parts[learned->n++] = k->knows[thread];
  k->knows[thread] = learned;
}

/* An atomic passes knowledge on: this thread learns what earlier ones at the address knew, and leaves what it knows. */
static void signal(simt_context *c, simt_check *k, u64 address, u32 thread) {
  simt_log *log = log_of(k, address);
  if (!log) return;
  simt_knowledge *knew = k->knows[thread];
  learn(k, log, thread);
  leave(c, k, log, thread, knew);
}

/* A barrier for some threads of the block, by its number: those that arrive leave what they know, and those that wait learn it. Of another
   block it is another barrier. */
static simt_log *barrier_log(simt_context *c, simt_check *k, u32 number) {
  return log_of(k, 0xF000000000000000ull | (u64)c->block_linear << 6 | (u64)number << 2);
}

void simt_check_arrive(simt_context *c, u32 number, u32 first, u32 lanes) {
  simt_log *log = barrier_log(c, c->check, number);
  if (log) EACH_LANE(l, lanes) leave(c, c->check, log, first + l, c->check->knows[first + l]);
}

void simt_check_depart(simt_context *c, u32 number, u32 first, u32 lanes) {
  simt_log *log = barrier_log(c, c->check, number);
  if (log) EACH_LANE(l, lanes) learn(c->check, log, first + l);
}

/* Several threads have waited for each other: what one knew from atomics all know. */
static void share(simt_check *k, const u32 *threads, u32 n) {
  u32 have = 0;
  for (u32 i = 0; i < n; i++) have |= k->knows[threads[i]] != k->knows[threads[0]];
  if (!have) return;
  simt_knowledge *all = take(k, sizeof *all + n * sizeof(simt_knowledge *));
  if (!all) return;
  all->parts = (simt_knowledge **)(all + 1);
  for (u32 i = 0; i < n; i++) {
    simt_knowledge *one = k->knows[threads[i]];
    if (one && (!all->n || all->parts[all->n - 1] != one)) all->parts[all->n++] = one;
  }
  for (u32 i = 0; i < n; i++) k->knows[threads[i]] = all;
}

void simt_check_block(simt_context *c) {
  simt_check *k = c->check;
  k->epoch = 0;
  memset(k->times, 0, k->n_threads * sizeof *k->times);
  memset(k->knows, 0, k->n_threads * sizeof *k->knows);
  memset(k->known, 0, (u64)(k->n_threads + 31) / 32 * 1024 * sizeof *k->known);
  if (k->passed) memset(k->passed, 0, (u64)(k->n_threads + 31) / 32 * k->n_points * sizeof *k->passed);
  if (k->shared_written) memset(k->shared_written, 0, c->shared_size);
  if (k->local_written) memset(k->local_written, 0, (u64)k->n_threads * c->local_size);
  /* Shared memory begins anew: its cells are those of the block before. */
  for (u64 word = 0; word < (c->shared_size + 3) / 4; word += PAGE_WORDS) {
    simt_page *p = page_of(k, (SHARED_BASE | k->room) / 4 + word, 0);
    if (p) memset(p->cells, 0, sizeof p->cells);
  }
}

void simt_check_barrier(simt_context *c) {
  simt_check *k = c->check;
  k->epoch++;
  u32 all[1024];
  for (u32 t = 0; t < k->n_threads; t++) all[t] = t, k->times[t]++;
  share(k, all, k->n_threads);
}

/* Lanes of the running warp have waited for each other. */
void simt_check_warp(simt_context *c, u32 lanes) {
  simt_check *k = c->check;
  u32 first = c->frame->first, threads[WARP], n = 0;
  u32 *known = k->known + (u64)first * 32, merged[WARP] = {0};
  EACH_LANE(l, lanes) {
    threads[n++] = first + l;
    for (u32 i = 0; i < WARP; i++)
      if (known[l * 32 + i] > merged[i]) merged[i] = known[l * 32 + i];
  }
  EACH_LANE(l, lanes) merged[l] = k->times[first + l] + 1;
  EACH_LANE(l, lanes) {
    memcpy(known + l * 32, merged, sizeof merged);
    k->times[first + l]++;
  }
  share(k, threads, n);
}

/* -- findings -------------------------------------------------------------------------------------------------------- */

void simt_check_found(simt_check *k, const simt_finding *f) {
  for (u32 i = 0; i < k->n_findings; i++) {
    simt_finding *g = &k->findings[i];
    if (g->kind != f->kind || g->scope != f->scope) continue;
    u32 same = (g->site == f->site && g->other_site == f->other_site) || (g->site == f->other_site && g->other_site == f->site);
    if (!same || (g->benign && !f->benign)) continue;
    g->count++;
    return;
  }
  if (k->n_findings == k->max_findings) {
    k->incomplete = 1;
    return;
  }
  k->findings[k->n_findings] = *f;
  k->findings[k->n_findings++].count = 1;
}

static void compare(simt_context *c, simt_check *k, const simt_record *a, u32 a_value, const simt_record *now, u32 value,
                    u64 address, u32 size) {
  if (!(a->flags & IS_THERE) || !((a->flags | now->flags) & IS_WRITE) || (a->flags & now->flags & IS_ATOMIC)) return;
  if (is_ordered(c, k, a, now->thread)) return;
  u32 benign = (a->flags & now->flags & IS_WRITE) ? a_value == value && !((a->flags | now->flags) & IS_ATOMIC)
                                                  : ((a->flags & IS_WRITE ? a->flags : now->flags) & IS_SILENT) != 0;
  simt_finding f = {FIND_RACE,
                    a->block != now->block ? SCOPE_GRID : a->thread / 32 != now->thread / 32 ? SCOPE_BLOCK : SCOPE_WARP,
                    now->site, a->site, now->block, now->thread, a->block, a->thread, address, size,
                    (now->flags & IS_WRITE) != 0, (a->flags & IS_WRITE) != 0, benign,
                    (now->flags & IS_ATOMIC) != 0, (a->flags & IS_ATOMIC) != 0, 0};
  simt_check_found(k, &f);
}

/* -- accesses -------------------------------------------------------------------------------------------------------- */

static void note_reader(simt_check *k, simt_cell *cell, u32 index, const simt_record *now) {
  simt_record last = cell->read;
  cell->read = *now;
  if (!(last.flags & IS_THERE) || (last.block == now->block && last.thread == now->thread)) return;
  if (!cell->others) {
    u32 at = cells(k, 2);
    if (!at) return;
    cell = index ? k->pool + index : cell;
    cell->others = at;
  }
  simt_cell *pair = k->pool + cell->others;
  u32 which = last.block != now->block ? 2 : last.thread / 32 != now->thread / 32 ? 1 : 0;
  simt_record *places[3] = {&pair[0].write, &pair[0].read, &pair[1].write};
  *places[which] = last;
}

static void compare_readers(simt_context *c, simt_check *k, simt_cell *cell, const simt_record *now, u32 value, u64 address, u32 size) {
  compare(c, k, &cell->read, 0, now, value, address, size);
  if (!cell->others) return;
  const simt_cell *pair = k->pool + cell->others;
  compare(c, k, &pair[0].write, 0, now, value, address, size);
  compare(c, k, &pair[0].read, 0, now, value, address, size);
  compare(c, k, &pair[1].write, 0, now, value, address, size);
}

static void touch(simt_context *c, simt_check *k, simt_cell *cell, u32 index, const simt_record *now, u32 value, u64 address, u32 size) {
  compare(c, k, &cell->write, cell->value, now, value, address, size);
  if (!(now->flags & IS_WRITE)) {
    note_reader(k, cell, index, now);
    return;
  }
  compare_readers(c, k, cell, now, value, address, size);
  cell->write = *now, cell->value = value;
  cell->read.flags = 0;
  if (cell->others) memset(k->pool + cell->others, 0, 2 * sizeof *cell);
}

/* A word that is touched in part gets a cell for each of its bytes. */
static u32 take_apart(simt_check *k, simt_cell *cell) {
  if (cell->bytes) return cell->bytes;
  u32 at = cells(k, 4);
  if (!at) return 0;
  for (u32 i = 0; i < 4; i++) {
    k->pool[at + i] = *cell;
    k->pool[at + i].others = 0, k->pool[at + i].bytes = 0;
    k->pool[at + i].value = cell->value >> (8 * i) & 255;
  }
  cell->bytes = at;
  return at;
}

static void follow(simt_context *c, simt_check *k, u64 generic, u32 bytes, simt_record now, const u8 *old, const u8 *new) {
  u64 done = 0, room = generic - SHARED_BASE < WINDOW ? k->room : 0;
  while (done < bytes) {
    u64 at = generic + done;
    u32 part = 4 - at % 4 < bytes - done ? 4 - (u32)(at % 4) : bytes - (u32)done;
    simt_page *p = page_of(k, (at | room) / 4, 1);
    if (!p) return;
    simt_cell *cell = &p->cells[at / 4 % PAGE_WORDS];
    u32 value = 0, before = 0;
    if (new) memcpy(&value, new + done, part);
    if (old) memcpy(&before, old + done, part);
    if (part == 4 && !cell->bytes) {
      now.flags = (u16)((now.flags & ~IS_SILENT) | (new && old && value == before ? IS_SILENT : 0));
      touch(c, k, cell, 0, &now, value, at, bytes);
    } else {
      u32 first = take_apart(k, cell);
      for (u32 i = 0; first && i < part; i++) {
        u32 one = value >> (8 * i) & 255, was = before >> (8 * i) & 255, index = first + (u32)((at + i) % 4);
        now.flags = (u16)((now.flags & ~IS_SILENT) | (new && old && one == was ? IS_SILENT : 0));
        touch(c, k, k->pool + index, index, &now, one, at + i, bytes);
      }
    }
    done += part;
  }
}

/* The flags of ``bytes`` bytes of memory, NULL when they are not tracked. */
static u8 *flags_of(simt_context *c, simt_check *k, u64 generic, u32 thread) {
  if (generic - SHARED_BASE < WINDOW) return k->shared_written ? k->shared_written + (generic - SHARED_BASE) : NULL;
  if (generic - LOCAL_BASE < WINDOW)
    return k->local_written ? k->local_written + (u64)thread * c->local_size + (generic - LOCAL_BASE) : NULL;
  if (!k->written) return NULL;
  u64 room;
  u32 writable, index;
  if (!simt_find(c, generic, &room, &writable)) return NULL;
  index = simt_buffer_index(c, generic);
  return k->written[index] ? k->written[index] + (generic - c->buffers[index].start) : NULL;
}

static void one(simt_context *c, simt_check *k, u32 site, u32 lane, u64 generic, u32 bytes, u32 kind, u32 atomic, const u8 *old, const u8 *new) {
  u32 thread = thread_of(c, lane);
  if (k->unwritten) {
    u8 *flags = flags_of(c, k, generic, thread);
    if (flags && kind != STORE) {
      u32 all = 1;
      for (u32 i = 0; i < bytes; i++) all &= flags[i] & FLAG_WRITTEN;
      if (!all) {
        simt_finding f = {FIND_UNWRITTEN, 0, site, site, c->block_linear, thread, 0, 0, generic, bytes, 0, 0, 0, 0, 0, 0};
        simt_check_found(k, &f);
      }
    }
    u8 set = (u8)((kind != LOAD ? FLAG_WRITTEN : 0) | (!k->touched ? 0 : kind == LOAD ? FLAG_READ : kind == STORE ? FLAG_STORED : FLAG_READ | FLAG_STORED));
    for (u32 i = 0; flags && i < bytes; i++) flags[i] |= set;
  }
  if (!k->races || generic - LOCAL_BASE < WINDOW) return;
  u32 write = kind != LOAD;
  simt_record now = {c->block_linear, (u16)thread, (u16)(IS_THERE | (write ? IS_WRITE : 0) | (atomic ? IS_ATOMIC : 0)),
                     k->times[thread], k->epoch, site};
  if (atomic && kind == LOAD) signal(c, k, generic, thread), now.time = k->times[thread];
  follow(c, k, generic, bytes, now, old, new);
  if (atomic && kind != LOAD) signal(c, k, generic, thread);
}

void simt_check_access(simt_context *c, simt_site *s, const u64 *address, u8 *const *host, u32 mask, const void *data) {
  const simt_access *a = s->access;
  simt_check *k = c->check;
  u32 bytes = a->size * a->components;
  u64 base = a->space == SHARED ? SHARED_BASE : a->space == LOCAL ? LOCAL_BASE : 0;
  EACH_LANE(l, mask) {
    u64 generic = base + address[l];
    u32 local = generic - LOCAL_BASE < WINDOW, shared = generic - SHARED_BASE < WINDOW;
    if (generic - c->by_value_host < c->by_value_size || simt_overread_holds(c, host[l])) continue;
    if (a->stated && generic % a->stated) {
      simt_finding f = {FIND_ASKEW, 0, s->index, s->index, c->block_linear, thread_of(c, l), 0, 0, generic, bytes, 0, 0, 0, 0, 0, 0};
      simt_check_found(k, &f);
    }
    u32 atomic = a->kind == ATOMIC || (a->is_volatile && !shared && !local);
    u8 fresh[256];
    if (a->kind == STORE && !local)
      for (u32 i = 0; i < a->components; i++) memcpy(fresh + i * a->size, (const u8 *)data + (i * WARP + l) * a->size, a->size);
    one(c, k, s->index, l, generic, bytes, a->kind, atomic, local ? NULL : host[l], a->kind == STORE && !local ? fresh : NULL);
  }
}

/* A bulk fill or half of a copy: its site is counted from the end, so that it differs from those of accesses. */
static void bulk(simt_context *c, u32 note, u32 lane, u64 address, u64 bytes, u32 write) {
  simt_check *k = c->check;
  if (address - c->by_value_host < c->by_value_size) return;
  u32 unwritten = k->unwritten;
  /* Padding may be copied although it was never written: what a copy reads is not reported as unwritten. */
  if (!write) k->unwritten = 0;
  for (u64 done = 0; done < bytes;) {
    u32 part = bytes - done < 16 ? (u32)(bytes - done) : 16;
    one(c, k, ~note, lane, address + done, part, write ? STORE : LOAD, 0, NULL, NULL);
    done += part;
  }
  k->unwritten = unwritten;
}

void simt_check_fill(simt_context *c, u32 note, u32 lane, u64 to, u64 bytes) { bulk(c, note, lane, to, bytes, 1); }

/* Unwritten bytes stay unwritten when they are copied. */
void simt_check_copy(simt_context *c, u32 note, u32 lane, u64 to, u64 from, u64 bytes) {
  simt_check *k = c->check;
  u32 thread = thread_of(c, lane);
  u8 *source = k->unwritten && from - c->by_value_host >= c->by_value_size ? flags_of(c, k, from, thread) : NULL;
  u8 *kept = source ? malloc(bytes) : NULL;
  if (kept) memcpy(kept, source, bytes);
  bulk(c, note, lane, from, bytes, 0);
  bulk(c, note, lane, to, bytes, 1);
  u8 *target = kept ? flags_of(c, k, to, thread) : NULL;
  for (u64 i = 0; target && i < bytes; i++) target[i] = (u8)((target[i] & ~FLAG_WRITTEN) | (kept[i] & FLAG_WRITTEN));
  free(kept);
}
