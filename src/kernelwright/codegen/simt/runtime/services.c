/* What kernels ask the host for: bulk copies, text, and an end. */
#include <stdio.h>

#include "simt.h"

/* In place of an address: local memory, which is interleaved, and bytes that lie outside a buffer at least in part. Both are
   handled byte by byte. */
#define IN_LOCAL ((u8 *)1)
#define PAST_BUFFER ((u8 *)2)

/* Where ``bytes`` bytes of a lane's generic address lie; NULL and a fault when no buffer holds them, or when the address is no
   multiple of ``align``. */
static u8 *place(simt_context *c, u32 note, u32 lane, u64 address, u64 bytes, u32 align, u32 write) {
  u64 room = 0;
  u8 *host = NULL;
  if (address & (align - 1u)) {
    u32 first = !c->fault->kind;
    simt_fault_at(c, FAULT_BULK_MISALIGNED, note, lane, address, (u32)bytes, write);
    if (first) c->fault->detail[0] = align;
    return NULL;
  }
  if (address - LOCAL_BASE < WINDOW) {
    u64 offset = address - LOCAL_BASE;
    if (offset < c->local_size && bytes <= c->local_size - offset) return IN_LOCAL;
  } else if (address - SHARED_BASE < WINDOW) {
    u64 offset = address - SHARED_BASE;
    if (offset < c->shared_size && bytes <= c->shared_size - offset) return (u8 *)c->shared_host + offset;
  } else if (address - c->by_value_host < c->by_value_size) {
    const simt_buffer *b = simt_by_value(c, address);
    if (b && !write && bytes <= b->end - address) return (u8 *)address;
  } else {
    u32 writable = 0;
    host = (u8 *)simt_find(c, address, &room, &writable);
    if (host && c->spread && (write || c->written[simt_buffer_index(c, address)])) c->departed = 1, c->budget = -1;
    if (host && bytes <= room && (writable || !write)) return host;
    if (!write && simt_is_overread(c, ~note, lane, address, bytes)) return PAST_BUFFER;
  }
  simt_fault_at(c, FAULT_BULK, note, lane, address, (u32)bytes, write);
  return NULL;
}

static u8 *local_byte(simt_context *c, u32 lane, u64 offset) {
  return (u8 *)c->local_host + offset / 4 * 128 + lane * 4 + offset % 4;
}

static void gather_bytes(simt_context *c, u32 lane, u64 address, u8 *host, u8 *to, u64 n) {
  if (host == PAST_BUFFER) simt_overread_bytes(c, address, to, n);
  else if (host != IN_LOCAL) memcpy(to, host, n);
  else for (u64 i = 0; i < n; i++) to[i] = *local_byte(c, lane, address - LOCAL_BASE + i);
}

static void scatter_bytes(simt_context *c, u32 lane, u64 address, u8 *host, const u8 *from, u64 n) {
  if (host != IN_LOCAL) memcpy(host, from, n);
  else for (u64 i = 0; i < n; i++) *local_byte(c, lane, address - LOCAL_BASE + i) = from[i];
}

/* ``align``: what the addresses are multiples of, of the target in the lowest byte, of the source in the next. */
void simt_copy(simt_context *c, u32 note, u32 mask, u32 align, const u64 *to, const u64 *from, const u64 *bytes) {
  if (c->weak) simt_weak_settle(c);
  if (c->changes) *c->changes = 1;
  EACH_LANE(l, mask) {
    u64 n = bytes[l];
    if (!n) continue;
    u8 *source = place(c, note, l, from[l], n, align >> 8, 0);
    u8 *target = source ? place(c, note, l, to[l], n, align & 255, 1) : NULL;
    if (!target) continue;
    if (c->check && source == PAST_BUFFER) simt_check_fill(c, note, l, to[l], n);
    else if (c->check) simt_check_copy(c, note, l, to[l], from[l], n);
    u32 has_address = source != IN_LOCAL && source != PAST_BUFFER;
    if (has_address && target != IN_LOCAL) {
      memmove(target, source, n);
      continue;
    }
    /* Both may be the same local bytes: a piece is read whole before any of it is written. */
    u8 piece[256];
    int backwards = to[l] > from[l];
    for (u64 done = 0; done < n;) {
      u64 m = n - done < sizeof piece ? n - done : sizeof piece, at = backwards ? n - done - m : done;
      gather_bytes(c, l, from[l] + at, has_address ? source + at : source, piece, m);
      scatter_bytes(c, l, to[l] + at, target == IN_LOCAL ? target : target + at, piece, m);
      done += m;
    }
  }
}

static void fill_local(simt_context *c, u32 lane, u64 at, u8 value, u64 n) {
  u32 word = value * 0x01010101u;
  for (u64 end = at + n; at < end;) {
    u32 whole = at % 4 == 0 && end - at >= 4;
    if (whole) memcpy(local_byte(c, lane, at), &word, 4);
    else *local_byte(c, lane, at) = value;
    at += whole ? 4 : 1;
  }
}

void simt_fill(simt_context *c, u32 note, u32 mask, u32 align, const u64 *to, const u8 *value, const u64 *bytes) {
  if (c->weak) simt_weak_settle(c);
  if (c->changes) *c->changes = 1;
  EACH_LANE(l, mask) {
    if (!bytes[l]) continue;
    u8 *target = place(c, note, l, to[l], bytes[l], align & 255, 1);
    if (!target) continue;
    if (c->check) simt_check_fill(c, note, l, to[l], bytes[l]);
    if (target != IN_LOCAL) memset(target, value[l], bytes[l]);
    else fill_local(c, l, to[l] - LOCAL_BASE, value[l], bytes[l]);
  }
}

/* -- printf ---------------------------------------------------------------------------------------------------------- */

#define TEXT_LIMIT 4096

/* The text at a lane's pointer, cut at TEXT_LIMIT; "(null)" where there is none. */
static u32 read_text(simt_context *c, u32 lane, u64 address, u8 *text) {
  u64 room = 0;
  u32 writable, n = 0;
  const u8 *host = NULL;
  if (address - LOCAL_BASE < WINDOW) {
    for (u64 at = address - LOCAL_BASE; at + n < c->local_size && n < TEXT_LIMIT - 1; n++)
      if (!(text[n] = *local_byte(c, lane, at + n))) break;
    text[n] = 0;
    return n;
  }
  if (address - SHARED_BASE < c->shared_size) {
    host = (u8 *)c->shared_host + (address - SHARED_BASE);
    room = c->shared_size - (address - SHARED_BASE);
  } else {
    host = simt_find(c, address, &room, &writable);
  }
  if (!host) {
    memcpy(text, "(null)", 7);
    return 6;
  }
  while (n < room && n < TEXT_LIMIT - 1 && host[n]) text[n] = host[n], n++;
  text[n] = 0;
  return n;
}

typedef struct {
  simt_context *c;
  u32 note, lane;
  u64 from;
  u32 at;
} arguments;

static u64 take(arguments *a, u32 size) {
  u64 value = 0;
  a->at = (a->at + size - 1) / size * size;
  u8 *host = place(a->c, a->note, a->lane, a->from + a->at, size, 1, 0);
  if (host) gather_bytes(a->c, a->lane, a->from + a->at, host, (u8 *)&value, size);
  a->at += size;
  return value;
}

/* One conversion, by C's own: ``spec`` is its text from % to the letter, stars already replaced. */
static u32 convert(arguments *a, char *spec, u32 n, u32 wide, char kind, u8 *to, u32 room) {
  char with_length[80];
  u8 text[TEXT_LIMIT];
  int made;
  spec[n] = 0;
  switch (kind) {
    case 'd': case 'i': case 'o': case 'u': case 'x': case 'X':
      if (wide) made = snprintf(with_length, sizeof with_length, "%.*sll%c", (int)n - 1, spec, kind), made = snprintf((char *)to, room, with_length, take(a, 8));
      else made = snprintf((char *)to, room, spec, (u32)take(a, 4));
      break;
    case 'c': made = snprintf((char *)to, room, spec, (int)take(a, 4)); break;
    case 's': read_text(a->c, a->lane, take(a, 8), text), made = snprintf((char *)to, room, spec, text); break;
    case 'p': made = snprintf((char *)to, room, spec, (void *)take(a, 8)); break;
    default: {
      u64 bits = take(a, 8);
      double d;
      memcpy(&d, &bits, 8);
      made = snprintf((char *)to, room, spec, d);
    }
  }
  return made < 0 ? 0 : (u32)made < room ? (u32)made : room;
}

/* The whole text of a call; returns its length, and the number of arguments in ``*count``. */
static u32 print_one(arguments *a, const u8 *format, u32 length, u8 *to, u32 room, u32 *count) {
  u32 done = 0;
  for (u32 i = 0; i < length && done < room; i++) {
    if (format[i] != '%') {
      to[done++] = format[i];
      continue;
    }
    char spec[64] = "%";
    u32 n = 1, wide = 0, before = a->at, taken = 0, k = i + 1;
    for (; k < length && n < 40; k++) {
      u8 ch = format[k];
      if (ch == '*') n += (u32)snprintf(spec + n, 12, "%d", (int)take(a, 4)), taken++;
      else if (ch == 'l' || ch == 'j' || ch == 'z' || ch == 't') wide = 1;
      else if (ch == 'h' || ch == 'L') continue;
      else if (strchr("-+ #.0123456789", ch)) spec[n++] = (char)ch;
      else break;
    }
    char kind = k < length ? (char)format[k] : 0;
    if (kind == '%') {
      to[done++] = '%', i = k;
      continue;
    }
    if (!kind || !strchr("diouxXcspeEfFgGaA", kind)) {
      /* Not a conversion: printed as it stands. */
      a->at = before;
      to[done++] = '%';
      continue;
    }
    spec[n++] = kind;
    done += convert(a, spec, n, wide, kind, to + done, room - done);
    *count += taken + 1, i = k;
  }
  return done;
}

void simt_print(simt_context *c, u32 note, u32 mask, const u64 *format, const u64 *packed, i32 *result) {
  EACH_LANE(l, mask) {
    u8 text[TEXT_LIMIT], out[2 * TEXT_LIMIT];
    u32 length = read_text(c, l, format[l], text), count = 0;
    arguments a = {c, note, l, packed[l], 0};
    u32 made = print_one(&a, text, length, out, sizeof out, &count);
    result[l] = (i32)count;
    if (c->print_used + made > c->print_size) {
      c->print_lost++;
      continue;
    }
    memcpy(c->print + c->print_used, out, made);
    c->print_used += made;
  }
}

/* A trap or a failed assertion of the first active lane. */
void simt_stop(simt_context *c, u32 note, u32 mask, u32 kind, const u64 *a, const u64 *b, const u64 *line, const u64 *d) {
  if (!mask) return;
  u32 l = (u32)__builtin_ctz(mask);
  u32 first = !c->fault->kind;
  simt_fault_at(c, kind, note, l, 0, 0, 0);
  if (!first) return;
  if (a) c->fault->detail[0] = a[l];
  if (b) c->fault->detail[1] = b[l];
  if (line) c->fault->detail[2] = line[l];
  if (d) c->fault->detail[3] = d[l];
}
