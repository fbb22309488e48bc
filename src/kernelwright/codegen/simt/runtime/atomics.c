/* Atomics: one lane after the other, in lane order. */
#include "few_lanes.h"

enum {
  ADD, SUB, AND, NAND, OR, XOR, XCHG, MAX, MIN, UMAX, UMIN, FADD, FSUB, FMAX, FMIN, FMAXIMUM, FMINIMUM, INC, DEC, CAS,
  COND_SUB, SUB_SAT
};
enum { INTEGER, HALF, BFLOAT, SINGLE, DOUBLE };

static i64 widen(u64 x, u32 bits) { return (i64)(x << (64 - bits)) >> (64 - bits); }

static double value_of(u64 bits, u32 type) {
  switch (type) {
    case HALF: {
      _Float16 h;
      u16 w = (u16)bits;
      memcpy(&h, &w, 2);
      return (double)h;
    }
    case BFLOAT: {
      u32 w = (u32)bits << 16;
      float f;
      memcpy(&f, &w, 4);
      return (double)f;
    }
    case SINGLE: {
      u32 w = (u32)bits;
      float f;
      memcpy(&f, &w, 4);
      return (double)f;
    }
  }
  double d;
  memcpy(&d, &bits, 8);
  return d;
}

/* Sums of two numbers of at most 24 bits are exact enough in double to be rounded once more. */
static u64 bits_of(double d, u32 type) {
  u64 bits = 0;
  if (type == HALF) {
    _Float16 h = (_Float16)d;
    memcpy(&bits, &h, 2);
  } else if (type == DOUBLE) {
    memcpy(&bits, &d, 8);
  } else {
    float f = (float)d;
    u32 w;
    memcpy(&w, &f, 4);
    if (type == SINGLE) return w;
    if (f != f) return 0x7FFF;
    if ((double)f != d && f - f == 0) {
      if (__builtin_fabs((double)f) > __builtin_fabs(d)) w -= 1;
      w |= 1;
    }
    bits = (w + 0x7FFF + (w >> 16 & 1)) >> 16 & 0xFFFF;
  }
  return bits;
}

static u64 larger(u64 old, u64 x, u32 type, u32 sign) {
  double a = value_of(old, type), b = value_of(x, type);
  if (a != a) return x;
  if (b != b) return old;
  if (a == b) return (__builtin_signbit(a) != 0) == sign ? old : x;
  return (a > b) == !sign ? old : x;
}

static u64 combine_floats(u32 operation, u32 type, u64 old, u64 x) {
  double a = value_of(old, type), b = value_of(x, type);
  switch (operation) {
    case FADD: return bits_of(a + b, type);
    case FSUB: return bits_of(a - b, type);
    case FMAX: return larger(old, x, type, 0);
    case FMIN: return larger(old, x, type, 1);
    case FMAXIMUM: return a != a || b != b ? bits_of(a + b, type) : larger(old, x, type, 0);
    case FMINIMUM: return a != a || b != b ? bits_of(a + b, type) : larger(old, x, type, 1);
  }
  return x;
}

static u64 combine(u32 operation, u32 bits, u64 old, u64 x, u64 expected) {
  switch (operation) {
    case ADD: return old + x;
    case SUB: return old - x;
    case AND: return old & x;
    case NAND: return ~(old & x);
    case OR: return old | x;
    case XOR: return old ^ x;
    case XCHG: return x;
    case MAX: return widen(old, bits) > widen(x, bits) ? old : x;
    case MIN: return widen(old, bits) < widen(x, bits) ? old : x;
    case UMAX: return old > x ? old : x;
    case UMIN: return old < x ? old : x;
    case INC: return old >= x ? 0 : old + 1;
    case DEC: return old == 0 || old > x ? x : old - 1;
    case CAS: return old == expected ? x : old;
    case COND_SUB: return old >= x ? old - x : old;
    case SUB_SAT: return old >= x ? old - x : 0;
  }
  return old;
}

static u64 next_value(const simt_access *a, u64 old, u64 x, u64 expected) {
  u32 bits = a->size * 8u;
  if (a->operation < FADD || a->operation > FMINIMUM) return combine(a->operation, bits, old, x, expected);
  if (a->several <= 1) return combine_floats(a->operation, a->is_float, old, x);
  u32 part = bits / a->several;
  u64 ones = (1ull << part) - 1, total = 0;
  for (u32 i = 0; i < a->several; i++)
    total |= (combine_floats(a->operation, a->is_float, old >> (i * part) & ones, x >> (i * part) & ones) & ones) << (i * part);
  return total;
}

/* Turns beyond the first: lanes on one address go one after the other. */
static u32 turns(const u64 *address, u32 mask) {
  u32 most = 0;
  EACH_LANE(l, mask) {
    u32 same = 0;
    ALL_LANES(k) same |= (u32)(address[k] == address[l]) << k;
    u32 n = (u32)__builtin_popcount(same & mask);
    if (n > most) most = n;
    if (n == (u32)__builtin_popcount(mask)) break;
  }
  return most ? most - 1 : 0;
}

/* Operations on words whose new value is quickly told. */
#define QUICK(turns)                                        \
  case ADD: turns(old + x) break;                           \
  case XCHG: turns(x) break;                                \
  case OR: turns(old | x) break;                            \
  case MAX: turns((i32)old > (i32)x ? old : x) break;       \
  case MIN: turns((i32)old < (i32)x ? old : x) break;

/* Their turns, in lane order. Returns 0 for other operations. */
#define TURNS(next) EACH_LANE(l, mask) { \
    u32 *place = (u32 *)(base + offset[l]), old = *place, x = operand[l]; \
    *place = (next), out[l] = old; \
  }
INLINED u32 quick_turns(const simt_access *a, u8 *base, const u32 *offset, u32 mask, u32 *out, const u32 *operand) {
  switch (a->operation) {
    QUICK(TURNS)
    default: return 0;
  }
  return 1;
}

#ifndef __AVX512CD__
/* The same of few lanes of one buffer. */
#define FEW_TURNS(next) for (u32 i = 0; i < few.n; i++) { \
    u32 *place = (u32 *)few.address[i], old = *place, x = operand[few.lane[i]]; \
    *place = (next), out[few.lane[i]] = old; \
  }
static u32 few_turns(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 *out, const u32 *operand) {
  const simt_access *a = s->access;
  simt_few few;
  if (a->space != GENERIC || a->size != 4 || a->align < 4 || a->form < FORM_INDEXED || c->spread || c->attention || !mask || !s->writable) return 0;
  if (__builtin_popcount(mask) > FEW || !simt_few_lanes(s, rem, root, mask, a->form, 4, &few)) return 0;
  switch (a->operation) {
    QUICK(FEW_TURNS)
    default: return 0;
  }
  if (c->counting) s->sectors += (i64)simt_few_pieces(&few, 5) - 1, s->serial += simt_few_alike(&few) - 1;
  return 1;
}
#endif

/* One lane's turn on ``size`` bytes. */
INLINED void turn(const simt_access *a, u8 *place, u32 l, u8 *out, const u8 *operand, const u8 *expected, u32 size) {
  u64 old = 0, x = 0, e = 0;
  memcpy(&old, place, size);
  memcpy(&x, operand + l * size, size);
  if (expected) memcpy(&e, expected + l * size, size);
  u64 next = next_value(a, old, x, e);
  memcpy(place, &next, size);
  memcpy(out + l * size, &old, size);
}

/* The same where other blocks run at the same time; the place is aligned. */
#define TURN_AMONG_OTHERS(T)                                                                                                      \
  INLINED void turn_among_others_##T(const simt_access *a, u8 *place, u32 l, u8 *out, const u8 *operand, const u8 *expected) {     \
    T x, e = 0, *at = (T *)place, old = __atomic_load_n(at, __ATOMIC_RELAXED), next;                                              \
    memcpy(&x, operand + l * sizeof(T), sizeof(T));                                                                               \
    if (expected) memcpy(&e, expected + l * sizeof(T), sizeof(T));                                                                \
    if (a->operation == ADD) old = __atomic_fetch_add(at, x, __ATOMIC_RELAXED);                                                   \
    else do next = (T)next_value(a, old, x, e);                                                                                   \
    while (!__atomic_compare_exchange_n(at, &old, next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));                                  \
    memcpy(out + l * sizeof(T), &old, sizeof(T));                                                                                 \
  }
TURN_AMONG_OTHERS(u32)
TURN_AMONG_OTHERS(u64)

/* Wider than a word, local memory is not in one piece. */
static void turn_apart(const simt_access *a, u8 *place, u32 l, u8 *out, const u8 *operand, const u8 *expected) {
  u8 whole[8];
  memcpy(whole, place, 4), memcpy(whole + 4, place + 128, 4);
  turn(a, whole, l, out, operand, expected, 8);
  memcpy(place, whole, 4), memcpy(place + 128, whole + 4, 4);
}

void simt_atomic(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u8 *out, const u8 *operand, const u8 *expected) {
  s = c->true_sites + s->index;
  const simt_access *a = s->access;
  u32 offset[WARP];
  u8 *base;
#ifndef __AVX512CD__
  if (few_turns(c, s, rem, root, mask, (u32 *)out, (const u32 *)operand)) return;
#endif
  if (simt_quick_offsets(c, s, rem, root, mask, offset, &base)) {
    u32 others = c->spread && a->space == GENERIC;
    if (others && a->size == 4) EACH_LANE(l, mask) turn_among_others_u32(a, base + offset[l], l, out, operand, expected);
    else if (others) EACH_LANE(l, mask) turn_among_others_u64(a, base + offset[l], l, out, operand, expected);
    else if (a->size == 4 && quick_turns(a, base, offset, mask, (u32 *)out, (const u32 *)operand)) return;
    else if (a->size == 4) EACH_LANE(l, mask) turn(a, base + offset[l], l, out, operand, expected, 4);
    else EACH_LANE(l, mask) turn(a, base + offset[l], l, out, operand, expected, 8);
    return;
  }
  u64 address[WARP];
  u8 *host[WARP];
  u32 space, size = a->size;
  simt_addresses(a, rem, root, address);
  u32 good = simt_resolve(c, s, address, mask, host, &space);
  if (good != mask) memset(out, 0, (size_t)size * WARP);
  simt_observe(c, s, address, host, good, space, operand);
  if (c->counting) s->serial += turns(address, good);
  EACH_LANE(l, good) {
    u32 local = a->space == LOCAL || address[l] - LOCAL_BASE < WINDOW;
    if (c->weak && a->space == GENERIC && host[l] == (u8 *)address[l]) simt_weak_atomic(c, l, address[l], size);
    u64 was = 0, is = 0;
    if (c->changes && host[l] == (u8 *)address[l]) memcpy(&was, host[l], size);
    u32 others = c->spread && a->space == GENERIC && host[l] == (u8 *)address[l];
    if (others && size == 8) turn_among_others_u64(a, host[l], l, out, operand, expected);
    else if (others && size == 4) turn_among_others_u32(a, host[l], l, out, operand, expected);
    else if (size == 8 && local) turn_apart(a, host[l], l, out, operand, expected);
    else if (size == 8) turn(a, host[l], l, out, operand, expected, 8);
    else if (size == 4) turn(a, host[l], l, out, operand, expected, 4);
    else turn(a, host[l], l, out, operand, expected, size);
    if (c->changes && host[l] == (u8 *)address[l]) memcpy(&is, host[l], size), *c->changes |= was != is;
  }
}
