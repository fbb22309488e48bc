/* Who takes part: threads that pass a barrier by, masks that do not fit, shuffles that read lanes which are not there. Told by code that
   is made for it (``SimtOptions.checked``). What a mask may name is what the PTX ISA says: who has ended is not waited for. */
#include "check.h"

static void note(simt_context *c, u32 kind, u32 site, u32 lane, u32 other_thread, u32 benign) {
  u32 block = c->block_linear;
  simt_finding f = {kind, SCOPE_WARP, site, site, block, c->frame->first + lane, block, other_thread, 0, 0, 0, 0, benign, 0, 0, 0};
  simt_check_found(c->check, &f);
}

static u32 *passed_of(simt_check *k, u32 warp, u32 point) {
  return k && k->passed && point < k->n_points ? k->passed + (u64)warp * k->n_points + point : NULL;
}

/* Lanes come to a place that is behind a point. */
void simt_passed(simt_context *c, u32 point, u32 mask) {
  u32 *passed = passed_of(c->check, c->frame->warp, point);
  if (passed) *passed |= mask;
}

/* A barrier of the block opens for the threads that wait there, ``thread`` among them. */
void simt_check_passed(simt_context *c, u32 point, u32 thread) {
  simt_check *k = c->check;
  for (u32 w = 0; w < (k->n_threads + 31) / 32; w++) {
    const u32 *passed = passed_of(k, w, point);
    if (!passed || !*passed) continue;
    u32 block = c->block_linear, other = w * WARP + (u32)__builtin_ctz(*passed), site = AT_POINT | point;
    simt_finding f = {FIND_PASSED, SCOPE_BLOCK, site, site, block, thread, block, other, 0, 0, 0, 0, 0, 0, 0, 0};
    simt_check_found(k, &f);
    return;
  }
}

/* Lane ``l`` and the other ``members`` do something together; ``named`` is its mask, ``point`` where lanes wait for it, if they do. */
void simt_check_named(simt_context *c, u32 site, u32 point, u32 l, u32 named, u32 members) {
  const simt_frame *f = c->frame;
  const u32 *passed = point ? passed_of(c->check, f->warp, point) : NULL;
  u32 missing = named & f->start & ~members, gone = passed ? missing & *passed : 0;
  if (gone) note(c, FIND_PASSED, AT_POINT | point, l, f->first + (u32)__builtin_ctz(gone), 0);
  else if (missing) note(c, FIND_ENDED, site, l, f->first + (u32)__builtin_ctz(missing), 1);
}

/* All lanes that will come are here, each with its mask. */
void simt_together(simt_context *c, u32 number, u32 point, u32 mask, const u32 *member) {
  if (!c->check) return;
  u32 done = 0;
  EACH_LANE(l, mask) {
    if (done >> l & 1) continue;
    u32 same = 0;
    EACH_LANE(k, member[l] & mask) same |= (u32)(member[k] == member[l]) << k;
    u32 others = member[l] & mask & ~same;
    if (others) note(c, FIND_MASKS, ~number, l, c->frame->first + (u32)__builtin_ctz(others), 0);
    else simt_check_named(c, point ? AT_POINT | point : ~number, point, l, member[l], member[l] & mask);
    done |= same;
  }
}

/* A shuffle of lanes ``members`` that are all here: those that read one that is not, and what they get instead. */
static u32 absent_of(simt_context *c, u32 site, u32 lane, u32 source, u32 members) {
  if (source < WARP && members >> source & 1) return 0;
  note(c, FIND_ABSENT, site, lane, c->frame->first + (source < WARP ? source : WARP - 1), 0);
  return 1;
}

u64 simt_shuffled(simt_context *c, u32 number, u32 mask, u32 mode, const u32 *member, const u32 *step, const u32 *clamp) {
  if (!c->check) return 0;
  u32 absent = 0;
  EACH_LANE(l, mask) {
    u32 inside, source = simt_source_lane(l, mode, step[l], clamp[l], &inside);
    absent |= absent_of(c, ~number, l, source, member[l] & mask) << l;
  }
  return absent | (u64)c->check->filler << 32;
}

/* The same where lanes came one after the other: what ``lane`` gets. */
u64 simt_check_shuffled(simt_context *c, u32 point, u32 lane, u32 source, u32 members, u64 value) {
  return absent_of(c, AT_POINT | point, lane, source, members) ? c->check->filler : value;
}
