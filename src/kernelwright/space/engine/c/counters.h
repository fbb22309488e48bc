/* Counters. */

#pragma once

#include "space.h"

static inline double joined(int sums, double a, double b) { return sums ? a + b : a * b; }

static inline double lowest(const Space *s, const Member *m, const Mask *d) {
  if (m->amount < 0) return m->constant;
  return s->values[s->value_row[m->amount] * MOST_VALUES + __builtin_ctz(d[m->amount])];
}

/* Members that surely count, with their weights, and those with one open condition. */
typedef struct { int n, sums, open; int member[MOST_MEMBERS], maybe[MOST_MEMBERS]; double weight[MOST_MEMBERS], could_weigh[MOST_MEMBERS]; } Chosen;

/* Whether two members of a term surely count apart: they are not the same under the term's equivalence. */
static inline int apart(const Space *s, const Term *t, const Mask *d, int a, int b) {
  if (t->same < 0) return 1;
  int v = s->same[t->same + a * t->members + b];
  return v >= 0 && !(s->presence[v] & ~s->present) && !(d[v] & t->same_mask);
}

/* The largest join of members that are pairwise apart: exact, so that it never falls while domains shrink. */
static double largest(const Space *s, const Term *t, const Mask *d, const Chosen *c, int from, const int *among, int n) {
  double best = joined(c->sums, c->sums ? 0 : 1, c->sums ? 0 : 1);
  double rest = best;
  for (int i = from; i < n; i++) rest = joined(c->sums, rest, c->weight[among[i]]);
  for (int i = from; i < n; i++) {
    if (rest <= best) break;
    int fewer[MOST_MEMBERS], count = 0;
    for (int j = i + 1; j < n; j++)
      if (apart(s, t, d, c->member[among[i]], c->member[among[j]])) fewer[count++] = among[j];
    double with = joined(c->sums, c->weight[among[i]], largest(s, t, d, c, 0, fewer, count));
    if (with > best) best = with;
    if (count == n - i - 1) break; /* apart from all that follow: leaving it out gains nothing */
    rest = c->sums ? rest - c->weight[among[i]] : rest / c->weight[among[i]];
  }
  return best;
}

static double largest_with(const Space *s, const Term *t, const Mask *d, const Chosen *c, int member, double weight) {
  int among[MOST_MEMBERS], n = 0;
  for (int i = 0; i < c->n; i++)
    if (c->member[i] != member && apart(s, t, d, member, c->member[i])) among[n++] = i;
  return joined(c->sums, weight, largest(s, t, d, c, 0, among, n));
}

/* 2 the member surely counts, 1 one condition is open (returned in `open`), 0 it does not, or more than one is open. */
static int member_status(const Space *s, const Member *m, const Mask *d, int *open) {
  int undecided = 0;
  if (m->objects & ~s->present) return 0;
  for (int g = 0; g < 2; g++) {
    int v = m->guard[g];
    if (v < 0) continue;
    if (!(d[v] & m->guard_mask[g])) return 0;
    if (d[v] & ~m->guard_mask[g]) { undecided++; *open = g; }
  }
  return undecided == 0 ? 2 : undecided == 1;
}

/* A member that is surely the same as an earlier one counts with it, as the greater of the two. */
static int counted_already(const Space *s, const Term *t, const Mask *d, Chosen *c, int member, double weight) {
  if (t->same < 0) return 0;
  for (int i = 0; i < c->n; i++) {
    int v = s->same[t->same + c->member[i] * t->members + member];
    if (v < 0 || (s->presence[v] & ~s->present) || (d[v] & ~t->same_mask)) continue;
    if (weight > c->weight[i]) c->weight[i] = weight;
    return 1;
  }
  return 0;
}

static void surely_counted(const Space *s, const Term *t, const Mask *d, Chosen *c) {
  int open;
  c->n = c->open = 0, c->sums = t->sums;
  for (int i = 0; i < t->members; i++) {
    const Member *m = s->member + t->first + i;
    const int status = member_status(s, m, d, &open);
    if (!status) continue;
    double weight = lowest(s, m, d);
    if (status == 1) c->maybe[c->open] = i, c->could_weigh[c->open++] = weight;
    else if (!counted_already(s, t, d, c, i, weight)) c->member[c->n] = i, c->weight[c->n++] = weight;
  }
}

static double term_minimum(const Space *s, const Term *t, const Mask *d, Chosen *c) {
  int all[MOST_MEMBERS];
  surely_counted(s, t, d, c);
  for (int i = 0; i < c->n; i++) all[i] = i;
  return t->coefficient * largest(s, t, d, c, 0, all, c->n);
}

static int narrow_term(Space *s, Mask *d, const Term *t, Chosen *c, double limit, int cause) {
  double all = c->sums ? 0 : 1;
  for (int i = 0; i < c->n; i++) all = joined(c->sums, all, c->weight[i]);
  for (int i = 0; i < c->n; i++) {
    const Member *m = s->member + t->first + c->member[i];
    if (m->amount < 0 || !(d[m->amount] & (d[m->amount] - 1))) continue;
    const double *values = s->values + s->value_row[m->amount] * MOST_VALUES;
    double others = c->sums ? all - c->weight[i] : all / c->weight[i];
    Mask kept = d[m->amount];
    int top = 15 - __builtin_clz((unsigned)kept << 16);
    if (t->coefficient * joined(c->sums, others, values[top]) <= limit) continue;
    for (unsigned x = kept; x; x &= x - 1) {
      int i_value = __builtin_ctz(x);
      if (t->coefficient * largest_with(s, t, d, c, c->member[i], values[i_value]) > limit) kept &= (Mask)~(1u << i_value);
    }
    if (kept != d[m->amount] && !assign(s, d, m->amount, kept, cause)) return 0;
  }
  for (int i = 0; i < c->open; i++) {
    const Member *m = s->member + t->first + c->maybe[i];
    double weight = c->could_weigh[i];
    if (t->coefficient * joined(c->sums, all, weight) <= limit) continue;
    int open = 0;
    if (member_status(s, m, d, &open) != 1) continue; /* it was, before this term narrowed others: they wake the counter again */
    if (t->coefficient * largest_with(s, t, d, c, c->maybe[i], weight) <= limit) continue;
    int v = m->guard[open];
    if (!assign(s, d, v, d[v] & ~m->guard_mask[open], cause)) return 0;
  }
  return 1;
}

static int term_status(const Space *s, const Term *t, const Mask *d) {
  if (t->guard < 0) return 2;
  if ((s->presence[t->guard] & ~s->present) || !(d[t->guard] & t->guard_mask)) return 0;
  return d[t->guard] & ~t->guard_mask ? 1 : 2;
}

static int visit_counter(Space *s, Mask *d, int number) {
  const Counter *k = s->counter + number;
  int cause = s->counter_base + number;
  double total = 0;
  Chosen c;
  if (k->terms == 1 && s->term[k->first].guard < 0) {
    const Term *t = s->term + k->first;
    if (term_minimum(s, t, d, &c) > k->limit) return 0;
    return narrow_term(s, d, t, &c, k->limit, cause);
  }
  for (int i = 0; i < k->terms; i++)
    if (term_status(s, s->term + k->first + i, d) == 2) total += term_minimum(s, s->term + k->first + i, d, &c);
  if (total > k->limit) return 0;
  for (int i = 0; i < k->terms; i++) {
    const Term *t = s->term + k->first + i;
    int status = term_status(s, t, d);
    if (!status) continue;
    double own = term_minimum(s, t, d, &c);
    if (status == 2) {
      if (!narrow_term(s, d, t, &c, k->limit - (total - own), cause)) return 0;
    } else if (total + own > k->limit) {
      if (!assign(s, d, t->guard, d[t->guard] & ~t->guard_mask, cause)) return 0;
    }
  }
  return 1;
}
