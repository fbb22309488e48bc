/* Binary and ternary constraints of a variable. */

#pragma once

#include "space.h"

/* Values of the variable at `position` that some values of the two others allow, in a relation too wide for tables. */
static Mask supported(const Space *s, const Wide *w, int position, const Mask *d) {
  const int32_t *sizes = s->relation_sizes + 3 * w->relation;
  const Mask *rows = s->relation_rows + s->relation_first[w->relation];
  Mask z = d[w->variable[2]], found = 0;
  for (unsigned x = d[w->variable[0]]; x; x &= x - 1) {
    int i = __builtin_ctz(x);
    for (unsigned y = d[w->variable[1]]; y; y &= y - 1) {
      int j = __builtin_ctz(y);
      Mask row = rows[i * sizes[1] + j] & z;
      if (!row) continue;
      if (position == 2) found |= row;
      else if (position == 1) found |= (Mask)(1u << j);
      else { found |= (Mask)(1u << i); break; }
    }
  }
  return found;
}

static inline int visit_pairs(Space *s, Mask *d, int v, int until) {
  const Mask x = d[v];
  const uint32_t own = s->presence[v];
  for (const Binary *b = s->binary + s->nodes[v].binary, *last = s->binary + until; b < last; b++) {
    const Mask old = d[b->other], value = old & s->binary_tables[b->table + x];
    if (value != old && !narrow(s, d, b->other, value, own, b->constraint)) return 0;
  }
  return 1;
}

static inline uint32_t is_unsettled(const Ternary *t, const Mask *d, const uint32_t *unsettled) {
  return unsettled[t->row + d[t->second]] >> d[t->third];
}

static __attribute__((noinline)) int settle(Space *s, Mask *d, const Ternary *t, unsigned x, uint32_t own) {
  const Mask y = d[t->second], z = d[t->third];
  const Pair *p = s->pairs + (t->row >> 10);
  const Mask z_left = z & s->ternary_tables[(uint32_t)p->to_third << 10 | x << 5 | y];
  const Mask y_left = y & s->ternary_tables[(uint32_t)p->to_second << 10 | x << 5 | z];
  const int cause = s->ternary_constraint[t - s->ternary];
  return (z_left == z || narrow(s, d, t->third, z_left, own | s->presence[t->second], cause)) &&
         (y_left == y || narrow(s, d, t->second, y_left, own | s->presence[t->third], cause));
}

/* Whether a ternary constraint removes anything is one bit, and most do not: four are looked at together. */
static inline int visit_triples(Space *s, Mask *d, int v, int last) {
  const unsigned x = d[v] & 31;
  const uint32_t *unsettled = s->unsettled + (x << 5);
  for (const Ternary *t = s->ternary + s->nodes[v].ternary, *end = s->ternary + last; t < end; t += 4) {
    if (!((is_unsettled(t, d, unsettled) | is_unsettled(t + 1, d, unsettled) | is_unsettled(t + 2, d, unsettled) |
           is_unsettled(t + 3, d, unsettled)) & 1)) continue;
    for (int k = 0; k < 4; k++)
      if (is_unsettled(t + k, d, unsettled) & 1 && !settle(s, d, t + k, x, s->presence[v])) return 0;
  }
  return 1;
}

static int visit_wide(Space *s, Mask *d, int v, const Wide *w) {
  const Mask *free = s->relation_free + 3 * w->relation;
  int only = -1;
  for (int p = 0; p < 3; p++)
    if (d[w->variable[p]] & free[p]) { only = p; break; } /* this one allows everything to the two others */
  for (int p = 0; p < 3; p++) {
    int target = w->variable[p];
    if (only >= 0 ? p != only || target == v : target == v) continue;
    Mask old = d[target];
    if (!(old & ~free[p])) continue;
    Mask value = supported(s, w, p, d);
    if (value == old) continue;
    uint32_t sources = 0;
    for (int q = 0; q < 3; q++) if (q != p) sources |= s->presence[w->variable[q]];
    if (!narrow(s, d, target, value, sources, w->constraint)) return 0;
  }
  return 1;
}
