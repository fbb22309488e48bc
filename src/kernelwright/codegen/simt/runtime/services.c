/* What kernels ask the host for: bulk copies, text, and an end. */
#include "simt.h"

/* Where ``bytes`` bytes of a lane's generic address lie; NULL and a fault when they are nobody's. Local memory is handled
   byte by byte by the caller, since it is interleaved. */
static u8 *place(simt_context *c, u32 note, u32 lane, u64 address, u64 bytes, u32 write) {
  u64 room = 0;
  u8 *host = NULL;
  if (address - LOCAL_BASE < WINDOW) {
    u64 offset = address - LOCAL_BASE;
    if (offset < c->local_size && bytes <= c->local_size - offset) return (u8 *)1;
  } else if (address - SHARED_BASE < WINDOW) {
    u64 offset = address - SHARED_BASE;
    if (offset < c->shared_size && bytes <= c->shared_size - offset) return (u8 *)c->shared_host + offset;
  } else if (address - c->parameters < c->parameter_size) {
    if (!write && bytes <= c->parameter_size - (address - c->parameters)) return (u8 *)address;
  } else {
    u32 writable = 0;
    host = (u8 *)simt_find(c, address, &room, &writable);
    if (host && bytes <= room && (writable || !write)) return host;
  }
  simt_fault_at(c, FAULT_BULK, note, lane, address, (u32)bytes, write);
  return NULL;
}

static u8 *local_byte(simt_context *c, u32 lane, u64 offset) {
  return (u8 *)c->local_host + offset / 4 * 128 + lane * 4 + offset % 4;
}

static void gather_bytes(simt_context *c, u32 lane, u64 address, u8 *host, u8 *to, u64 n) {
  if (host != (u8 *)1) memcpy(to, host, n);
  else for (u64 i = 0; i < n; i++) to[i] = *local_byte(c, lane, address - LOCAL_BASE + i);
}

static void scatter_bytes(simt_context *c, u32 lane, u64 address, u8 *host, const u8 *from, u64 n) {
  if (host != (u8 *)1) memcpy(host, from, n);
  else for (u64 i = 0; i < n; i++) *local_byte(c, lane, address - LOCAL_BASE + i) = from[i];
}

void simt_copy(simt_context *c, u32 note, u32 mask, const u64 *to, const u64 *from, const u64 *bytes) {
  EACH_LANE(l, mask) {
    u64 n = bytes[l];
    if (!n) continue;
    u8 *source = place(c, note, l, from[l], n, 0);
    u8 *target = source ? place(c, note, l, to[l], n, 1) : NULL;
    if (!target) continue;
    if (c->check) {
      simt_check_bytes(c, note, l, from[l], n, 0);
      simt_check_bytes(c, note, l, to[l], n, 1);
    }
    if (source != (u8 *)1 && target != (u8 *)1) {
      memmove(target, source, n);
      continue;
    }
    /* Both may be the same local bytes: a piece is read whole before any of it is written. */
    u8 piece[256];
    int backwards = to[l] > from[l];
    for (u64 done = 0; done < n;) {
      u64 m = n - done < sizeof piece ? n - done : sizeof piece, at = backwards ? n - done - m : done;
      gather_bytes(c, l, from[l] + at, source == (u8 *)1 ? source : source + at, piece, m);
      scatter_bytes(c, l, to[l] + at, target == (u8 *)1 ? target : target + at, piece, m);
      done += m;
    }
  }
}

void simt_fill(simt_context *c, u32 note, u32 mask, const u64 *to, const u8 *value, const u64 *bytes) {
  EACH_LANE(l, mask) {
    if (!bytes[l]) continue;
    u8 *target = place(c, note, l, to[l], bytes[l], 1);
    if (!target) continue;
    if (c->check) simt_check_bytes(c, note, l, to[l], bytes[l], 1);
    if (target != (u8 *)1) memset(target, value[l], bytes[l]);
    else for (u64 i = 0; i < bytes[l]; i++) *local_byte(c, l, to[l] - LOCAL_BASE + i) = value[l];
  }
}

/* A print is kept as it was called: the format's text, the packed arguments, and the text of those that are pointers to
   text. Formatting happens after the launch. A record: u32 bytes, thread, block, format length, arguments length,
   texts; format; arguments; per text u32 argument offset, u32 length, bytes. */
static u64 text_length(simt_context *c, u32 lane, u64 address) {
  u64 n = 0, room = 0;
  u32 writable;
  if (address - LOCAL_BASE < WINDOW) {
    u64 offset = address - LOCAL_BASE;
    while (offset + n < c->local_size && *local_byte(c, lane, offset + n)) n++;
    return n;
  }
  const u8 *host;
  if (address - SHARED_BASE < c->shared_size) {
    host = (u8 *)c->shared_host + (address - SHARED_BASE);
    room = c->shared_size - (address - SHARED_BASE);
  } else {
    host = simt_find(c, address, &room, &writable);
  }
  while (host && n < room && host[n]) n++;
  return n;
}

static const u8 *text_at(simt_context *c, u32 lane, u64 address, u64 n, u8 *buffer) {
  if (address - LOCAL_BASE < WINDOW) {
    for (u64 i = 0; i < n; i++) buffer[i] = *local_byte(c, lane, address - LOCAL_BASE + i);
    return buffer;
  }
  if (address - SHARED_BASE < c->shared_size) return (u8 *)c->shared_host + (address - SHARED_BASE);
  return (const u8 *)address;
}

#define TEXT_LIMIT 4096

/* Walks the format as C's printf does, noting where the arguments lie. Returns how many there are. */
static u32 arguments_of(const u8 *format, u64 n, u32 *bytes, u32 *texts, u32 n_texts, u32 *found_texts) {
  u32 count = 0, at = 0, texts_found = 0;
  for (u64 i = 0; i < n; i++) {
    if (format[i] != '%') continue;
    u32 wide = 0, stars = 0;
    for (i++; i < n; i++) {
      u8 ch = format[i];
      if (ch == '*') stars++;
      else if (ch == 'l' || ch == 'j' || ch == 'z' || ch == 't') wide = 1;
      else if (!(ch == '-' || ch == '+' || ch == ' ' || ch == '#' || ch == '.' || ch == 'h' || ch == 'L' || (ch >= '0' && ch <= '9'))) break;
    }
    if (i >= n) break;
    u8 kind = format[i];
    if (kind == '%') continue;
    for (; stars; stars--) at = (at + 3) / 4 * 4 + 4, count++;
    u32 eight = wide || kind == 's' || kind == 'p' || strchr("eEfFgGaA", kind) != NULL;
    if (!strchr("diouxXcspeEfFgGaA", kind)) continue;
    u32 size = kind == 'c' ? 4 : eight ? 8 : 4;
    at = (at + size - 1) / size * size;
    if (kind == 's' && texts_found < n_texts) texts[texts_found++] = at;
    at += size, count++;
  }
  *bytes = at, *found_texts = texts_found;
  return count;
}

void simt_print(simt_context *c, u32 note, u32 mask, const u64 *format, const u64 *arguments, i32 *result) {
  EACH_LANE(l, mask) {
    u8 local_text[TEXT_LIMIT];
    u64 length = text_length(c, l, format[l]);
    if (length > TEXT_LIMIT) length = TEXT_LIMIT;
    const u8 *text = text_at(c, l, format[l], length, local_text);
    u32 bytes, texts[32], n_texts;
    result[l] = (i32)arguments_of(text, length, &bytes, texts, 32, &n_texts);
    u8 packed[1024];
    if (bytes > sizeof packed) bytes = sizeof packed;
    if (bytes) {
      u8 *host = place(c, note, l, arguments[l], bytes, 0);
      if (!host) continue;
      gather_bytes(c, l, arguments[l], host, packed, bytes);
    }
    u64 need = 24 + length + bytes;
    u64 lengths[32], pointers[32];
    for (u32 i = 0; i < n_texts; i++) {
      pointers[i] = 0;
      if (texts[i] + 8 <= bytes) memcpy(&pointers[i], packed + texts[i], 8);
      lengths[i] = text_length(c, l, pointers[i]);
      if (lengths[i] > TEXT_LIMIT) lengths[i] = TEXT_LIMIT;
      need += 8 + lengths[i];
    }
    if (c->print_used + need > c->print_size) {
      c->print_lost++;
      continue;
    }
    u8 *to = c->print + c->print_used;
    u32 head[6] = {(u32)need, simt_thread_of(c, l), c->block_linear, (u32)length, bytes, n_texts};
    memcpy(to, head, 24), to += 24;
    memcpy(to, text, length), to += length;
    memcpy(to, packed, bytes), to += bytes;
    for (u32 i = 0; i < n_texts; i++) {
      u32 pair[2] = {texts[i], (u32)lengths[i]};
      memcpy(to, pair, 8), to += 8;
      memcpy(to, text_at(c, l, pointers[i], lengths[i], local_text), lengths[i]), to += lengths[i];
    }
    c->print_used += need;
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
