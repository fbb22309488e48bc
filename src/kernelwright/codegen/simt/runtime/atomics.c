/* Atomics: one lane after the other, in lane order. */
#include "simt.h"

enum { ADD, SUB, AND, NAND, OR, XOR, XCHG, MAX, MIN, UMAX, UMIN, FADD, FSUB, FMAX, FMIN, INC, DEC, CAS, COND_SUB, SUB_SAT };

static u64 narrow(u64 x, u32 size) { return size == 8 ? x : x & ((1ull << 8 * size) - 1); }
static i64 widen(u64 x, u32 size) { return (i64)(x << (64 - 8 * size)) >> (64 - 8 * size); }
static float as_float(u64 x) { u32 b = (u32)x; float f; memcpy(&f, &b, 4); return f; }
static u64 from_float(float f) { u32 b; memcpy(&b, &f, 4); return b; }
static double as_double(u64 x) { double f; memcpy(&f, &x, 8); return f; }
static u64 from_double(double f) { u64 b; memcpy(&b, &f, 8); return b; }

static u64 combine(u32 operation, u32 size, u64 old, u64 x, u64 expected) {
  switch (operation) {
    case ADD: return old + x;
    case SUB: return old - x;
    case AND: return old & x;
    case NAND: return ~(old & x);
    case OR: return old | x;
    case XOR: return old ^ x;
    case XCHG: return x;
    case MAX: return widen(old, size) > widen(x, size) ? old : x;
    case MIN: return widen(old, size) < widen(x, size) ? old : x;
    case UMAX: return old > x ? old : x;
    case UMIN: return old < x ? old : x;
    case FADD: return size == 4 ? from_float(as_float(old) + as_float(x)) : from_double(as_double(old) + as_double(x));
    case FSUB: return size == 4 ? from_float(as_float(old) - as_float(x)) : from_double(as_double(old) - as_double(x));
    case FMAX: return size == 4 ? from_float(__builtin_fmaxf(as_float(old), as_float(x))) : from_double(__builtin_fmax(as_double(old), as_double(x)));
    case FMIN: return size == 4 ? from_float(__builtin_fminf(as_float(old), as_float(x))) : from_double(__builtin_fmin(as_double(old), as_double(x)));
    case INC: return old >= x ? 0 : old + 1;
    case DEC: return old == 0 || old > x ? x : old - 1;
    case CAS: return old == expected ? x : old;
    case COND_SUB: return old >= x ? old - x : old;
    case SUB_SAT: return old >= x ? old - x : 0;
  }
  return old;
}

void simt_atomic(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u8 *out, const u8 *operand, const u8 *expected) {
  s = c->true_sites + s->index;
  const simt_access *a = s->access;
  u64 address[WARP];
  u8 *host[WARP];
  u32 space, size = a->size;
  simt_addresses(a, rem, root, address);
  u32 good = simt_resolve(c, s, address, mask, host, &space);
  EACH_LANE(l, good) {
    u64 old = 0, x = 0, e = 0;
    memcpy(&old, host[l], size);
    memcpy(&x, operand + l * size, size);
    if (expected) memcpy(&e, expected + l * size, size);
    u64 next = narrow(combine(a->operation, size, old, x, e), size);
    memcpy(host[l], &next, size);
    memcpy(out + l * size, &old, size);
  }
}
