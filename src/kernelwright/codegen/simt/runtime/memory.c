/* Loads and stores that the inline path does not take: unknown buffers, scattered addresses, edges, watched launches. */
#include "different.h"

/* The address of every lane from the parts that arrive. Lanes that are not active get some address.
   linear:    rem[segment] + lane in segment * stride
   extended:  ... + coefficient * extension of 32-bit (root[segment] + lane in segment * root_stride)
   indexed:   ... + coefficient * extension of root[lane]
   addresses: rem[lane] */
void simt_addresses(const simt_access *a, const u64 *rem, const i32 *root, u64 *out) {
  if (a->form == FORM_ADDRESSES) {
    memcpy(out, rem, WARP * sizeof *out);
    return;
  }
  u32 shift = (u32)__builtin_ctz(a->segment_lanes), within = a->segment_lanes - 1u;
  u64 stride = (u64)a->stride;
  if (a->segments == 1) {
    u64 base = rem[0];
    ALL_LANES(l) out[l] = base + l * stride;
  } else {
    ALL_LANES(l) out[l] = rem[l >> shift] + (l & within) * stride;
  }
  u64 k = (u64)a->coefficient;
  if (a->form == FORM_INDEXED) {
    if (a->zero_extend) ALL_LANES(l) out[l] += k * (u64)(u32)root[l];
    else ALL_LANES(l) out[l] += k * (u64)(i64)root[l];
  } else if (a->form == FORM_EXTENDED) {
    u32 step = (u32)a->root_stride;
    if (a->zero_extend) ALL_LANES(l) out[l] += k * (u64)((u32)root[l >> shift] + (l & within) * step);
    else ALL_LANES(l) out[l] += k * (u64)(i64)(i32)((u32)root[l >> shift] + (l & within) * step);
  }
}

/* -- everything else ------------------------------------------------------------------------------------------------- */

static const simt_buffer *find_buffer(const simt_context *c, u64 address) {
  u32 low = 0, high = c->n_buffers;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (c->buffers[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  if (!low || address >= c->buffers[low - 1].end) return NULL;
  return &c->buffers[low - 1];
}

/* The struct passed by value that a byte belongs to; NULL for one between them. */
const simt_buffer *simt_by_value(const simt_context *c, u64 address) {
  for (u32 i = 0; i < c->n_by_value; i++)
    if (address - c->by_value[i].start < c->by_value[i].end - c->by_value[i].start) return &c->by_value[i];
  return NULL;
}

/* Makes ``s`` remember a buffer, so that the inline path takes accesses that stay inside it. */
static void remember(simt_context *c, simt_site *s, u64 start, u64 end, u32 writable) {
  const simt_access *a = s->access;
  s->start = start, s->end = end, s->writable = writable;
  if (c->attention) return;
  u64 size = end - start;
  if (size < a->footprint || start % a->align || (a->kind != LOAD && !writable)) {
    s->low = 0, s->count = 0;
    return;
  }
  s->low = start;
  s->count = (size - a->footprint) / a->align + 1;
}

/* Where blocks run at the same time, an access keeps to the buffer that its addresses are made from, or reads one that the
   launch does not write to. Else the launch is left, and run again in order. */
static u32 departs(simt_context *c, const simt_site *s, const simt_buffer *b) {
  u64 home = c->homes[s->index];
  if (b->start == home || (s->access->kind == LOAD && !c->written[b - c->buffers])) return 0;
  c->departed = 1, c->budget = -1;
  return 1;
}

/* Where the bytes of a generic address are, and how many follow; NULL when the lane may not touch ``bytes`` there. */
static u8 *locate(simt_context *c, simt_site *s, u64 address, u32 bytes, u32 lane, u32 *space, u32 *read_only) {
  if (address - SHARED_BASE < WINDOW) {
    u64 offset = address - SHARED_BASE;
    if (offset >= c->shared_size && (u32)offset < c->shared_size) offset = (u32)offset; /* as in simt_resolve */
    *space = SHARED;
    if (offset >= c->shared_size || bytes > c->shared_size - offset) return NULL;
    return (u8 *)c->shared_host + offset;
  }
  if (address - LOCAL_BASE < WINDOW) {
    u64 offset = address - LOCAL_BASE;
    *space = LOCAL;
    if (offset >= c->local_size || bytes > c->local_size - offset) return NULL;
    return (u8 *)c->local_host + (offset / 4) * 128 + lane * 4 + offset % 4;
  }
  *space = GENERIC;
  u32 is_by_value = address - c->by_value_host < c->by_value_size;
  const simt_buffer *b = is_by_value ? simt_by_value(c, address) : find_buffer(c, address);
  if (!b || bytes > b->end - address) return NULL;
  if (s->access->kind != LOAD && !b->writable) {
    *read_only = 1;
    return NULL;
  }
  if (c->spread && !is_by_value && departs(c, s, b)) return NULL;
  remember(c, s, b->start, b->end, b->writable);
  return (u8 *)address;
}

/* Whether all lanes of ``mask`` are in the buffer that the access remembers, and aligned. */
static inline u32 all_inside(const simt_site *s, const u64 *address, u32 mask, u32 bytes, u64 low_bits) {
  u64 start = s->start, size = s->end - s->start, room = size - bytes + 1, bad = 0;
  if (size < bytes) return 0;
  ALL_LANES(l) bad |= (u64)(mask >> l & 1) & ((address[l] - start >= room) | ((address[l] & low_bits) != 0));
  return !bad;
}

/* Checks the lanes of ``mask`` and finds where their bytes are. Returns those that may go on; the others have
   recorded a fault. ``*space_of`` is the space all lanes share, or 3 when they differ. An index that is one of 32 bits without a sign
   and means a negative one comes out right in shared memory: PTX cuts addresses to the width of the state space (PTX ISA, "Addresses as
   Operands"). */
u32 simt_resolve(simt_context *c, simt_site *s, u64 *address, u32 mask, u8 **host, u32 *space_of) {
  const simt_access *a = s->access;
  u32 bytes = a->size * a->components, write = a->kind != LOAD;
  u64 low_bits = a->align - 1u;
  if (a->space == SHARED) {
    u64 room = c->shared_size >= bytes ? c->shared_size - bytes + 1 : 0, bad = 0;
    ALL_LANES(l) {
      host[l] = (u8 *)c->shared_host + address[l];
      bad |= (u64)(mask >> l & 1) & ((address[l] >= room) | ((address[l] & low_bits) != 0));
    }
    *space_of = SHARED;
    if (!bad) return mask;
    EACH_LANE(l, mask) {
      if (address[l] >= room && (u32)address[l] < room) host[l] = (u8 *)c->shared_host + (address[l] = (u32)address[l]);
      u32 kind = address[l] >= room ? FAULT_BOUNDS : address[l] & low_bits ? FAULT_MISALIGNED : FAULT_NONE;
      if (!kind) continue;
      simt_fault_at(c, kind, s->index, l, SHARED_BASE + address[l], bytes, write);
      mask &= ~(1u << l);
    }
    return mask;
  }
  *space_of = GENERIC;
  if ((a->kind == LOAD || s->writable) && all_inside(s, address, mask, bytes, low_bits)) {
    ALL_LANES(l) host[l] = (u8 *)address[l];
    if (!s->count) remember(c, s, s->start, s->end, s->writable);
    return mask;
  }
  if (a->space == GENERIC && mask) {
    /* Mostly all lanes are in the buffer that the first one is in, and an access is in another one than before. */
    u32 first = (u32)__builtin_ctz(mask), space, read_only = 0;
    if (locate(c, s, address[first], bytes, first, &space, &read_only) && space == GENERIC && all_inside(s, address, mask, bytes, low_bits)) {
      ALL_LANES(l) host[l] = (u8 *)address[l];
      return mask;
    }
  }
  u32 spaces = 0, good = 0;
  EACH_LANE(l, mask) {
    u32 space = GENERIC, read_only = 0;
    u64 generic = a->space == LOCAL ? LOCAL_BASE + address[l] : address[l];
    host[l] = locate(c, s, generic, bytes, l, &space, &read_only);
    if (host[l] && space == SHARED) address[l] = SHARED_BASE + (u64)(host[l] - (u8 *)c->shared_host); /* where 32 bits lead */
    if (!host[l] && !write && space == GENERIC && !(address[l] & low_bits)) host[l] = simt_overread(c, s->index, l, generic, bytes);
    u32 kind = !host[l] ? (read_only ? FAULT_READ_ONLY : FAULT_BOUNDS) : address[l] & low_bits ? FAULT_MISALIGNED : FAULT_NONE;
    if (kind) {
      simt_fault_at(c, kind, s->index, l, generic, bytes, write);
      continue;
    }
    spaces |= 1u << space;
    good |= 1u << l;
  }
  *space_of = spaces & (spaces - 1) ? 3 : spaces ? (u32)__builtin_ctz(spaces) : GENERIC;
  return good;
}

/* The row of the table that holds an address that is known to be in it. */
u32 simt_buffer_index(const simt_context *c, u64 address) { return (u32)(find_buffer(c, address) - c->buffers); }

/* A buffer's byte by its address, with the bytes that follow it. */
const u8 *simt_find(const simt_context *c, u64 address, u64 *room, u32 *writable) {
  const simt_buffer *b = find_buffer(c, address);
  if (!b) return NULL;
  *room = b->end - address, *writable = b->writable;
  return (const u8 *)address;
}

static void count(simt_context *c, simt_site *s, const u64 *address, u32 mask, u32 space) {
  const simt_access *a = s->access;
  u32 bytes = a->size * a->components;
  u64 offset[WARP];
  if (space == SHARED) {
    if (a->space != SHARED) {
      s->in_shared++;
      ALL_LANES(l) offset[l] = address[l] - SHARED_BASE;
      address = offset;
    }
    s->waves += (i64)simt_wavefronts(address, mask, bytes) - 1;
  } else if (space == LOCAL) {
    if (a->space != LOCAL) s->in_local++;
    /* Local memory is interleaved: the same offset in all lanes is one line per 4 bytes. */
    ALL_LANES(l) offset[l] = (address[l] / 4) * 128 + l * 4;
    u32 sectors = simt_distinct_sectors(offset, mask, 4) * ((bytes + 3) / 4);
    s->sectors += (i64)sectors - 1;
  } else if (a->is_constant) {
    /* All from one variable or parameter, of at most 64 KiB. */
    u64 first = address[__builtin_ctz(mask)] & ~3ull;
    u32 place[WARP];
    ALL_LANES(l) place[l] = (u32)(address[l] - first);
    s->serial += (i64)words_of(place, mask) - 1;
  } else {
    s->sectors += (i64)simt_distinct_sectors(address, mask, bytes) - 1;
  }
}

/* Counts an access, and lets those that watch see it. ``data`` is what a store is about to write. */
void simt_observe(simt_context *c, simt_site *s, const u64 *address, u8 *const *host, u32 mask, u32 space, const void *data) {
  if (!mask) return;
  const simt_access *a = s->access;
  if (space == 3) {
    /* A warp that touches several memories at once: each is a request of its own. */
    u32 by[3] = {0, 0, 0};
    EACH_LANE(l, mask) {
      u32 kind = address[l] - SHARED_BASE < WINDOW ? SHARED : address[l] - LOCAL_BASE < WINDOW ? LOCAL : GENERIC;
      by[kind] |= 1u << l;
    }
    for (u32 kind = 0; kind < 3; kind++) simt_observe(c, s, address, host, by[kind], kind, data);
    return;
  }
  if (c->counting) count(c, s, address, mask, space);
  if (!c->attention) return;
  if (c->cache && c->watched && space != SHARED && !a->is_constant) {
    u64 place[WARP];
    if (space == LOCAL) {
      /* Not where it lies in this process, which no two runs share. */
      u64 base = LOCAL_BASE + (u64)c->frame->warp * WARP * ((c->local_size + 3) / 4 * 4);
      ALL_LANES(l) place[l] = base + (address[l] & (LOCAL_BASE - 1)) / 4 * 128 + l * 4;
    }
    simt_cache_access(c, s, space == LOCAL ? place : address, mask, a->size * a->components, a->kind);
  } else if (c->cache && c->watched && space == SHARED) {
    u64 offset[WARP];
    ALL_LANES(l) offset[l] = address[l] & (SHARED_BASE - 1);
    u32 waves = simt_wavefronts(offset, mask, a->size * a->components);
    simt_trace(c, TRACE_SHARED, s->index, waves | simt_neighbours_differ(offset, mask) << 16);
  }
  if (c->check) simt_check_access(c, s, address, host, mask, data);
}

/* Local memory lies word by word across the lanes, so anything wider than a word is put together from words. */
static void copy_local(u8 *to, const u8 *from, u32 bytes, u32 to_local, u32 at) {
  for (u32 done = 0; done < bytes;) {
    u32 piece = 4 - at % 4 < bytes - done ? 4 - at % 4 : bytes - done;
    memcpy(to, from, piece);
    u32 jump = piece + (at % 4 + piece == 4 ? 124 : 0);
    if (to_local) to += jump, from += piece;
    else from += jump, to += piece;
    at += piece, done += piece;
  }
}

#define MOVE(T)                                                                           \
  for (u32 k = 0; k < n; k++) {                                                           \
    T *values = (T *)data + k * WARP;                                                     \
    if (store) EACH_LANE(l, mask) memcpy(host[l] + k * sizeof(T), &values[l], sizeof(T)); \
    else EACH_LANE(l, mask) memcpy(&values[l], host[l] + k * sizeof(T), sizeof(T));       \
  }

static void move(const simt_access *a, u8 *const *host, const u64 *address, u32 mask, u32 space, void *data, u32 store) {
  u32 n = a->components, size = a->size;
  if (space == LOCAL || space == 3) {
    EACH_LANE(l, mask) for (u32 k = 0; k < n; k++) {
      u8 *value = (u8 *)data + (k * WARP + l) * size;
      u32 local = a->space == LOCAL || address[l] - LOCAL_BASE < WINDOW;
      u64 at = (address[l] & 3) + k * size;
      u8 *place = local ? host[l] - (address[l] & 3) + at / 4 * 128 + at % 4 : host[l] + k * size;
      if (!local) memcpy(store ? place : value, store ? value : place, size);
      else copy_local(store ? place : value, store ? value : place, size, store, at & 3);
    }
    return;
  }
  switch (size) {
    case 1: MOVE(u8) break;
    case 2: MOVE(u16) break;
    case 4: MOVE(u32) break;
    case 8: MOVE(u64) break;
    default: MOVE(u128) break;
  }
}

/* One value per segment was asked for: lanes of a segment read the same address, so any active one has it. */
static void spread(const simt_access *a, u32 mask, void *data) {
  u32 size = a->size, per = a->segment_lanes;
  for (u32 k = 0; k < a->components; k++)
    for (u32 g = 0; g < a->segments; g++) {
      u32 part = per == 32 ? mask : mask >> (g * per) & ((1u << per) - 1);
      if (!part) continue;
      u8 *row = (u8 *)data + (k * WARP + g * per) * size;
      memmove(row, row + (u32)__builtin_ctz(part) * size, size);
    }
}

/* Moves what lies in global memory as ``weak.c`` has it; returns the lanes that it was not asked about. */
static u32 move_weakly(simt_context *c, const simt_access *a, const u64 *address, u8 *const *host, u32 mask, u32 space, u8 *data, u32 store) {
  u32 bytes = a->size * a->components, left = 0;
  if (!c->weak || a->space != GENERIC || space == SHARED || space == LOCAL) return mask;
  EACH_LANE(l, mask) {
    if (address[l] - SHARED_BASE < WINDOW || address[l] - LOCAL_BASE < WINDOW || host[l] != (u8 *)address[l] ||
        address[l] - c->by_value_host < c->by_value_size) {
      left |= 1u << l;
      continue;
    }
    u8 row[256];
    if (!store) memcpy(row, host[l], bytes), simt_weak_load(c, l, address[l], row, bytes, a->is_volatile);
    for (u32 k = 0; k < a->components; k++) {
      u8 *value = data + (k * WARP + l) * a->size;
      memcpy(store ? row + k * a->size : value, store ? value : row + k * a->size, a->size);
    }
    if (store) simt_weak_store(c, l, address[l], row, bytes, a->is_volatile);
  }
  return left;
}

/* An access that is made for the first time gets to know the buffer of its first lane: then it is one that comes often. */
static void begin(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask) {
  const simt_access *a = s->access;
  if (s->end || a->space != GENERIC || !mask || c->attention) return;
  u64 address[WARP];
  u32 first = (u32)__builtin_ctz(mask), space, read_only = 0;
  simt_addresses(a, rem, root, address);
  (void)locate(c, s, address[first], a->size * a->components, first, &space, &read_only);
}

void simt_load(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data) {
  s = c->true_sites + s->index;
  const simt_access *a = s->access;
  begin(c, s, rem, root, mask);
  if (simt_usual(c, s, rem, root, mask, data)) {
    if (a->spread) spread(a, mask, data);
    return;
  }
  u64 address[WARP];
  u8 *host[WARP];
  u32 space;
  simt_addresses(a, rem, root, address);
  u32 good = simt_resolve(c, s, address, mask, host, &space);
  if (good != mask) memset(data, 0, (size_t)a->size * a->components * WARP);
  simt_observe(c, s, address, host, good, space, data);
  move(a, host, address, move_weakly(c, a, address, host, good, space, data, 0), space, data, 0);
  if (a->spread) spread(a, mask, data);
}

void simt_store(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data) {
  s = c->true_sites + s->index;
  const simt_access *a = s->access;
  begin(c, s, rem, root, mask);
  if (simt_usual(c, s, rem, root, mask, data)) return;
  u64 address[WARP];
  u8 *host[WARP];
  u32 space;
  simt_addresses(a, rem, root, address);
  u32 good = simt_resolve(c, s, address, mask, host, &space);
  simt_observe(c, s, address, host, good, space, data);
  if (c->changes) simt_note_store(c, a, address, host, good, data);
  move(a, host, address, move_weakly(c, a, address, host, good, space, data, 1), space, data, 1);
}
