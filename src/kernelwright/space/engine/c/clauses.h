/* Clauses of a variable. */

#pragma once

#include "space.h"

static int visit_clause(Space *s, Mask *d, int clause) {
  const Literal *l = s->clauses + s->clause_first[clause];
  int count = s->clause_first[clause + 1] - s->clause_first[clause], open = -1;
  for (int a = 0; a < count; a++) {
    Mask x = d[l[a].variable];
    if (!(x & l[a].mask)) continue;
    if (open >= 0 || !(x & ~l[a].mask)) return 1; /* a second literal is open, or this one holds */
    open = a;
  }
  uint32_t sources = 0;
  for (int a = 0; a < count; a++) if (a != open) sources |= s->presence[l[a].variable];
  if (open < 0) return sources & s->dead ? 1 : refuse(s, d, sources);
  int v = l[open].variable;
  return narrow(s, d, v, d[v] & l[open].mask, sources, s->clause_base + clause);
}

static inline Mask left(const Mask *d, Literal l) { return d[l.variable] & l.mask; }

static inline int holds(const Mask *d, Literal l) { return d[l.variable] && !(d[l.variable] & ~l.mask); }

/* A clause of at most four literals: one of `v` is false, of the three others at most one is not. */
static __attribute__((noinline)) int settle_clause(Space *s, Mask *d, int v, const Literal others[3], int number) {
  int open = left(d, others[0]) ? 0 : left(d, others[1]) ? 1 : left(d, others[2]) ? 2 : -1;
  if (open >= 0 && holds(d, others[open])) return 1;
  uint32_t sources = s->presence[v];
  for (int i = 0; i < 3; i++) if (i != open) sources |= s->presence[others[i].variable];
  if (open < 0) return sources & s->dead ? 1 : refuse(s, d, sources);
  return narrow(s, d, others[open].variable, left(d, others[open]), sources, s->clause_base + s->short_clause[number]);
}

static inline int visit_threes(Space *s, Mask *d, int v, const Watch *w, int last) {
  const Literal *c = s->shorts + w->others;
  for (int i = w->first; i < last; i++, c += 3)
    if ((left(d, c[0]) != 0) + (left(d, c[1]) != 0) + (left(d, c[2]) != 0) < 2 && !settle_clause(s, d, v, c, i)) return 0;
  return 1;
}

static inline int visit_twos(Space *s, Mask *d, int v, const Watch *w, int last) {
  const Literal *c = s->shorts + w->others, *end = c + 2 * (last - w->first);
  const int is_open = left(d, w->shared) != 0;
  for (;; c += 2) {
    if (is_open) while (c < end && (left(d, c[0]) | left(d, c[1]))) c += 2;
    else while (c < end && (left(d, c[0]) != 0) + (left(d, c[1]) != 0) == 2) c += 2;
    if (c >= end) return 1;
    const Literal others[3] = {w->shared, c[0], c[1]};
    if (!settle_clause(s, d, v, others, w->first + (int)(c - s->shorts - w->others) / 2)) return 0;
  }
}

/* Clauses of at most four literals. They hold where the gate or the shared literal does. */
static inline int visit_shorts(Space *s, Mask *d, int v, int all) {
  const Watch *end = s->short_watch + s->nodes[v + 1].shorts;
  for (const Watch *w = s->short_watch + s->nodes[v].shorts; w < end;) {
    const Watch *now = w;
    if (d[v] & now->mask) { w += now->next_mask; continue; }
    if (holds(d, now->gate)) { w += now->next_gate; continue; }
    w++;
    if (holds(d, now->shared)) continue;
    const int last = all ? now->last : now->waiting;
    if (!(now->width == 2 ? visit_twos(s, d, v, now, last) : visit_threes(s, d, v, now, last))) return 0;
  }
  return 1;
}
