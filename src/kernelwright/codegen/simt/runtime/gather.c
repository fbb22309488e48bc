/* Warp operations whose lanes came one after the other: complete when every live lane of the mask waits at an operation of
   the same kind with the same mask. PTX ISA, "Parallel Synchronization and Communication Instructions". */
#include "check.h"

enum { SYNC, ELECT, VOTE_ALL, VOTE_ANY, VOTE_UNI, BALLOT, SHUFFLE, MATCH_ANY, MATCH_ALL, REDUX, YIELD };
enum { NONE, UP, DOWN, BFLY, IDX, ALWAYS, I32, I64, R_ADD, R_AND, R_OR, R_XOR, R_UMIN, R_UMAX, R_MIN, R_MAX, R_FMIN, R_FMAX };

static float single(u64 bits) { u32 w = (u32)bits; float f; memcpy(&f, &w, 4); return f; }
static u64 bits_of(float f) { u32 w; memcpy(&w, &f, 4); return w; }

static u64 combine(u32 mode, u64 x, u64 y) {
  switch (mode) {
    case R_ADD: return (u32)(x + y);
    case R_AND: return x & y;
    case R_OR: return x | y;
    case R_XOR: return x ^ y;
    case R_UMIN: return (u32)x < (u32)y ? x : y;
    case R_UMAX: return (u32)x > (u32)y ? x : y;
    case R_MIN: return (i32)x < (i32)y ? x : y;
    case R_MAX: return (i32)x > (i32)y ? x : y;
  }
  u32 form = mode - R_FMIN, nan = form / 2 % 2, largest = form % 2;
  float a = single(x), b = single(y);
  if (a != a || b != b) return nan ? bits_of(a + b) : a != a ? y : x;
  if (a == b) return (__builtin_signbit(a) != 0) != largest ? x : y;
  return (a < b) != largest ? x : y;
}

/* The lane that ``lane`` reads, itself where that is out of range. PTX ISA, ``shfl.sync``. */
u32 simt_source_lane(u32 lane, u32 mode, u32 step_bits, u32 clamp_bits, u32 *inside) {
  i32 step = (i32)step_bits & 31, clamp = (i32)clamp_bits;
  i32 limit = clamp & 31, segment = clamp >> 8 & 31, me = (i32)lane;
  i32 low = me & segment, high = low | (limit & ~segment & 31), source;
  if (mode == UP) source = me - step, *inside = source >= high;
  else {
    source = mode == DOWN ? me + step : mode == BFLY ? me ^ step : low | (step & ~segment & 31);
    *inside = source <= high;
  }
  return *inside ? (u32)source : lane;
}

static void shuffle(simt_context *c, simt_frame *f, u32 lane, u32 mode, u32 members) {
  u32 inside, source = simt_source_lane(lane, mode, (u32)f->operand2[lane], (u32)(f->operand2[lane] >> 32), &inside);
  u64 value = source < WARP && members >> source & 1 ? f->operand[source] : 0;
  f->result[lane] = c->check ? simt_check_shuffled(c, f->site[lane], lane, source, members, value) : value;
  f->result2[lane] = inside;
}

static void answer(simt_context *c, simt_frame *f, const simt_point *p, u32 members) {
  u32 yes = 0, same = 1;
  u32 first = (u32)__builtin_ctz(members);
  EACH_LANE(l, members) {
    yes |= (u32)(f->operand[l] & 1) << l;
    same &= f->operand[l] == f->operand[first];
  }
  u64 total = f->operand[first];
  if (p->operation == REDUX) {
    u32 absolute = p->mode >= R_FMIN + 4, mode = absolute ? p->mode - 4u : p->mode;
    u64 clear = absolute ? 0x7FFFFFFF : ~0ull;
    total &= clear;
    EACH_LANE(l, members & (members - 1)) total = combine(mode, total, f->operand[l] & clear);
  }
  EACH_LANE(l, members) {
    switch (p->operation) {
      case ELECT: f->result[l] = first, f->result2[l] = l == first; break;
      case VOTE_ALL: f->result[l] = yes == members; break;
      case VOTE_ANY: f->result[l] = yes != 0; break;
      case VOTE_UNI: f->result[l] = yes == 0 || yes == members; break;
      case BALLOT: f->result[l] = yes; break;
      case SHUFFLE: shuffle(c, f, l, p->mode, members); break;
      case MATCH_ANY: {
        u32 found = 0;
        EACH_LANE(k, members) found |= (u32)(f->operand[k] == f->operand[l]) << k;
        f->result[l] = found;
        break;
      }
      case MATCH_ALL: f->result[l] = same ? members : 0, f->result2[l] = same; break;
      case REDUX: f->result[l] = total; break;
    }
  }
}

/* Answers every gather that is complete and returns the lanes that may go on. A lane that is not in its own mask can never
   go on. */
u32 simt_complete_gathers(simt_context *c, simt_frame *f, const simt_point *points) {
  u32 released = 0;
  EACH_LANE(l, f->waiting) {
    const simt_point *p = &points[f->site[l]];
    if (!p->is_gather || p->operation == YIELD || released >> l & 1 || !(f->member[l] >> l & 1)) continue;
    u32 members = f->member[l] & f->live, complete = 1;
    EACH_LANE(k, members) {
      const simt_point *q = &points[f->site[k]];
      complete &= f->waiting >> k & 1 && q->is_gather && q->kind == p->kind && f->member[k] == f->member[l];
    }
    if (!complete) continue;
    answer(c, f, p, members);
    if (c->check) simt_check_named(c, AT_POINT | f->site[l], f->site[l], l, f->member[l], members);
    if (p->operation == SYNC && c->check) simt_check_warp(c, members);
    if (p->operation == SYNC && c->weak) simt_weak_warp(c, members);
    released |= members;
  }
  return released;
}

/* Lanes that let others run, and may go on now. */
u32 simt_yielded(const simt_frame *f, const simt_point *points) {
  u32 lanes = 0;
  EACH_LANE(l, f->waiting) lanes |= (u32)(points[f->site[l]].is_gather && points[f->site[l]].operation == YIELD) << l;
  return lanes;
}

/* The lanes of ``member`` (per lane) that are in ``mask`` met at a barrier of the warp. */
void simt_synced(simt_context *c, u32 mask, const u32 *member) {
  if (!c->check && !c->weak) return;
  u32 done = 0;
  EACH_LANE(l, mask) {
    if (done >> l & 1) continue;
    u32 group = member[l] & mask;
    if (c->check) simt_check_warp(c, group);
    if (c->weak) simt_weak_warp(c, group);
    done |= group;
  }
}
