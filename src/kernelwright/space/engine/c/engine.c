/* Propagation of a packed space (packing.py): domains in one uint16 array, which is copied instead of undone.

   The engine knows variables, tables, clauses, counters and presence; no choice by name. What it computes is defined by
   oracle.py: the greatest common fixpoint of all constraints, which is independent of the order of decisions because every
   rule below removes more when domains are smaller or more objects exist, never less. */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t Mask;

typedef struct { int32_t other; uint32_t table; int32_t constraint; } Binary;
typedef struct { uint16_t second, third, to_third, to_second; } Ternary;
typedef struct { int32_t relation, constraint; int32_t variable[3]; } Wide;
typedef struct { int32_t first, last, gate; Mask mask, gate_mask; } Watch;
typedef struct { uint16_t variable; Mask mask; } Literal;
typedef struct { Literal other[3]; int32_t clause; } Short;
typedef struct { int32_t guard[2]; Mask guard_mask[2]; int32_t amount; int32_t unused; double constant; } Member;
typedef struct { int32_t first, members, sums, guard; Mask guard_mask, same_mask; int32_t same; double coefficient; } Term;
typedef struct { double limit; int32_t first, terms; } Counter;

typedef struct {
  int32_t variables, groups, counters, wide_base, clause_base, counter_base, presence_base, unused;
  const Mask *initial; const uint32_t *presence; const int8_t *group_of;
  const int32_t *exists; const Mask *exists_yes; const int32_t *group_first, *group_variables;
  const int32_t *binary_first; const Binary *binary; const Mask *binary_tables;
  const int32_t *ternary_first; const Ternary *ternary; const int32_t *ternary_constraint; const uint8_t *ternary_tables;
  const int32_t *wide_first, *wide_watch; const Wide *wide;
  const int32_t *relation_first, *relation_sizes; const Mask *relation_rows, *relation_free;
  const int32_t *short_first; const Watch *short_watch; const Short *shorts;
  const int32_t *long_first; const Watch *long_watch; const int32_t *longs;
  const int32_t *clause_first; const Literal *clauses;
  const int32_t *counted_first, *counted; const Mask *counted_mask;
  const Counter *counter; const Term *term; const Member *member; const int32_t *same; const double *values;
  const int32_t *value_row;
  /* working memory of one caller at a time */
  int32_t *queue; uint8_t *queued; int32_t *dirty; uint8_t *is_dirty; Mask *children;
  int64_t *log; int64_t log_room, logged;
  int32_t head, waiting, dirty_count, unused_too; uint32_t present, dead;
  uint64_t random; int64_t propagations, events, decisions, failures;
} Space;

enum { DECISION = -1 };
enum { MOST_MEMBERS = 512, MOST_VALUES = 16 };

static int assign(Space *s, Mask *d, int v, Mask value, int cause);

static inline void enqueue(Space *s, int v) {
  if (s->queued[v]) return;
  s->queued[v] = 1;
  int tail = s->head + s->waiting++;
  s->queue[tail >= s->variables ? tail - s->variables : tail] = v;
}

/* The objects of `absent` cannot all exist: 0 when they do already, and the last one that is open is refused. */
static int refuse(Space *s, Mask *d, uint32_t absent) {
  absent &= ~s->present;
  if (!absent) return 0;
  if (absent & (absent - 1)) return 1;
  int group = __builtin_ctz(absent), v = s->exists[group];
  Mask value = d[v] & ~s->exists_yes[group];
  return value == d[v] || assign(s, d, v, value, s->presence_base + group);
}

static void bury(Space *s, Mask *d, int group) {
  s->dead |= 1u << group;
  for (int i = s->group_first[group]; i < s->group_first[group + 1]; i++) d[s->group_variables[i]] = 0;
}

static int assign(Space *s, Mask *d, int v, Mask value, int cause) {
  if (s->presence[v] & s->dead) return 1;
  if (s->log && s->logged < s->log_room) {
    int64_t *row = s->log + 4 * s->logged++;
    row[0] = v, row[1] = d[v], row[2] = value, row[3] = cause;
  }
  d[v] = value;
  s->events++;
  enqueue(s, v);
  if (!value && !refuse(s, d, s->presence[v])) return 0;
  int group = s->group_of[v];
  if (group >= 0 && !(value & s->exists_yes[group]) && !(s->dead >> group & 1)) bury(s, d, group);
  return 1;
}

/* `v` becomes `value` because of a constraint among variables whose objects are `sources`. It holds only where all of them
   exist: it may restrict `v` only when its own existence implies theirs. An impossibility refuses the last open object. */
static inline int narrow(Space *s, Mask *d, int v, Mask value, uint32_t sources, int cause) {
  uint32_t own = s->presence[v];
  if ((sources | own) & s->dead) return 1;
  if (sources & ~(own | s->present)) return value ? 1 : refuse(s, d, sources | own);
  return assign(s, d, v, value, cause);
}

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

/* Clauses of at most four literals, one of which is false: the others lie side by side. */
static int visit_shorts(Space *s, Mask *d, const Watch *w, uint32_t own) {
  for (const Short *c = s->shorts + w->first, *last = s->shorts + w->last; c < last; c++) {
    const Mask a = d[c->other[0].variable] & c->other[0].mask;
    const Mask b = d[c->other[1].variable] & c->other[1].mask;
    const Mask e = d[c->other[2].variable] & c->other[2].mask;
    if ((a != 0) + (b != 0) + (e != 0) >= 2) continue; /* it holds, or two literals are open */
    const int open = a ? 0 : b ? 1 : e ? 2 : -1;
    uint32_t sources = own;
    for (int i = 0; i < 3; i++) if (i != open) sources |= s->presence[c->other[i].variable];
    if (open < 0) {
      if (!(sources & s->dead) && !refuse(s, d, sources)) return 0;
      continue;
    }
    const int v = c->other[open].variable;
    const Mask value = a | b | e;
    if (value != d[v] && !narrow(s, d, v, value, sources, s->clause_base + c->clause)) return 0;
  }
  return 1;
}

/* --- counters */

static inline double joined(int sums, double a, double b) { return sums ? a + b : a * b; }

static inline double lowest(const Space *s, const Member *m, const Mask *d) {
  if (m->amount < 0) return m->constant;
  return s->values[s->value_row[m->amount] * MOST_VALUES + __builtin_ctz(d[m->amount])];
}

typedef struct { int n, sums; int member[MOST_MEMBERS]; double weight[MOST_MEMBERS]; } Chosen;

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
  if (m->amount >= 0 && (s->presence[m->amount] & ~s->present)) return 0;
  for (int g = 0; g < 2; g++) {
    int v = m->guard[g];
    if (v < 0) continue;
    if ((s->presence[v] & ~s->present) || !(d[v] & m->guard_mask[g])) return 0;
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
  c->n = 0, c->sums = t->sums;
  for (int i = 0; i < t->members; i++) {
    const Member *m = s->member + t->first + i;
    if (member_status(s, m, d, &open) != 2) continue;
    double weight = lowest(s, m, d);
    if (!counted_already(s, t, d, c, i, weight)) c->member[c->n] = i, c->weight[c->n++] = weight;
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
  for (int i = 0; i < t->members; i++) {
    const Member *m = s->member + t->first + i;
    int open = 0;
    if (member_status(s, m, d, &open) != 1) continue;
    double weight = lowest(s, m, d);
    if (t->coefficient * joined(c->sums, all, weight) <= limit) continue;
    if (t->coefficient * largest_with(s, t, d, c, i, weight) <= limit) continue;
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

/* --- the fixpoint */

static int begin_existing(Space *s, Mask *d, int group) {
  s->present |= 1u << group;
  for (int i = s->group_first[group]; i < s->group_first[group + 1]; i++) {
    int v = s->group_variables[i];
    if (s->presence[v] & s->dead) continue;
    if (!d[v] && !refuse(s, d, s->presence[v])) return 0;
    enqueue(s, v);
  }
  return 1;
}

static int visit(Space *s, Mask *d, int v) {
  if (s->presence[v] & s->dead) return 1;
  s->propagations++;
  int group = s->group_of[v];
  if (group >= 0 && d[v] == s->exists_yes[group] && !(s->present >> group & 1) && !begin_existing(s, d, group)) return 0;
  const Mask x = d[v];
  const uint32_t own = s->presence[v];
  for (int i = s->binary_first[v]; i < s->binary_first[v + 1]; i++) {
    const Binary *b = s->binary + i;
    Mask old = d[b->other], value = old & s->binary_tables[b->table + x];
    if (value != old && !narrow(s, d, b->other, value, own, b->constraint)) return 0;
  }
  const uint8_t *tables = s->ternary_tables;
  const uint32_t x_bits = (uint32_t)(x & 31) << 5;
  const int last = s->ternary_first[v + 1];
  for (int i = s->ternary_first[v]; i < last; i++) {
    const Ternary t = s->ternary[i];
    const Mask y = d[t.second], z = d[t.third];
    const Mask z_left = z & tables[(uint32_t)t.to_third << 10 | x_bits | y];
    const Mask y_left = y & tables[(uint32_t)t.to_second << 10 | x_bits | z];
    if (z_left != z && !narrow(s, d, t.third, z_left, own | s->presence[t.second], s->ternary_constraint[i])) return 0;
    if (y_left != y && !narrow(s, d, t.second, y_left, own | s->presence[t.third], s->ternary_constraint[i])) return 0;
  }
  for (int i = s->wide_first[v]; i < s->wide_first[v + 1]; i++)
    if (!visit_wide(s, d, v, s->wide + s->wide_watch[i])) return 0;
  for (int i = s->short_first[v]; i < s->short_first[v + 1]; i++) {
    const Watch *w = s->short_watch + i;
    if (x & w->mask) continue; /* the literal that these clauses share is not false */
    if (w->gate >= 0 && !(d[w->gate] & ~w->gate_mask) && d[w->gate]) continue; /* another literal of each surely holds */
    if (!visit_shorts(s, d, w, own)) return 0;
  }
  for (int i = s->long_first[v]; i < s->long_first[v + 1]; i++) {
    const Watch *w = s->long_watch + i;
    if (x & w->mask) continue;
    for (int j = w->first; j < w->last; j++)
      if (!visit_clause(s, d, s->longs[j])) return 0;
  }
  for (int i = s->counted_first[v]; i < s->counted_first[v + 1]; i++) {
    int k = s->counted[i];
    if (s->is_dirty[k] || (s->counted_mask[i] && (x & s->counted_mask[i]))) continue;
    s->is_dirty[k] = 1;
    s->dirty[s->dirty_count++] = k;
  }
  return 1;
}

/* Tables and clauses first: counters are the dearest, and wake often. `ok` is 0 when a domain is empty already. */
static int propagate(Space *s, Mask *d, int ok) {
  while (ok && (s->waiting || s->dirty_count)) {
    if (s->waiting) {
      int v = s->queue[s->head];
      if (++s->head == s->variables) s->head = 0;
      s->waiting--;
      s->queued[v] = 0;
      ok = visit(s, d, v);
    } else {
      int k = s->dirty[--s->dirty_count];
      s->is_dirty[k] = 0;
      ok = visit_counter(s, d, k);
    }
  }
  while (s->waiting) {
    s->queued[s->queue[s->head]] = 0;
    if (++s->head == s->variables) s->head = 0;
    s->waiting--;
  }
  while (s->dirty_count) s->is_dirty[s->dirty[--s->dirty_count]] = 0;
  return ok;
}

static void look_at_presence(Space *s, const Mask *d) {
  s->present = s->dead = 0;
  for (int g = 0; g < s->groups; g++) {
    Mask x = d[s->exists[g]];
    if (x == s->exists_yes[g]) s->present |= 1u << g;
    if (!(x & s->exists_yes[g])) s->dead |= 1u << g;
  }
}

/* The domains before any decision. 0 when no solution is left. */
int space_root(Space *s, Mask *d) {
  memcpy(d, s->initial, sizeof(Mask) * s->variables);
  s->present = s->dead = 0;
  s->logged = 0;
  int ok = 1;
  for (int g = 0; g < s->groups; g++) if (!(d[s->exists[g]] & s->exists_yes[g])) bury(s, d, g);
  for (int v = 0; v < s->variables; v++) {
    enqueue(s, v);
    ok = ok && (d[v] || (s->presence[v] & s->dead) || refuse(s, d, s->presence[v]));
  }
  return propagate(s, d, ok);
}

int space_restrict(Space *s, Mask *d, int v, Mask mask) {
  s->decisions++;
  Mask value = d[v] & mask;
  if (value == d[v]) return 1;
  look_at_presence(s, d);
  int ok = propagate(s, d, assign(s, d, v, value, DECISION));
  s->failures += !ok;
  return ok;
}

/* Decisions one after the other; the number of those that held, `count` when all did. */
int space_replay(Space *s, Mask *d, const int32_t *decisions, int count) {
  for (int i = 0; i < count; i++) {
    int v = decisions[2 * i];
    look_at_presence(s, d);
    if (s->presence[v] & s->dead) return i;
    if (!space_restrict(s, d, v, (Mask)decisions[2 * i + 1])) return i;
  }
  return count;
}

/* The first variable of `order` from `from` on that is open and whose objects exist; -1 when none is. */
int space_open(const Space *s, const Mask *d, const int32_t *order, int count, int from) {
  uint32_t present = 0;
  for (int g = 0; g < s->groups; g++) if (d[s->exists[g]] == s->exists_yes[g]) present |= 1u << g;
  for (int i = from; i < count; i++) {
    int v = order[i];
    if ((d[v] & (d[v] - 1)) && !(s->presence[v] & ~present)) return i;
  }
  return -1;
}

/* All children that `v` gives: states one after the other in `children`, the values in `masks`. Returns their number. */
int space_expand(Space *s, const Mask *d, int v, Mask *children, Mask *masks) {
  int n = 0;
  for (unsigned x = d[v]; x; x &= x - 1) {
    Mask bit = (Mask)(x & -x), *child = children + (size_t)n * s->variables;
    memcpy(child, d, sizeof(Mask) * s->variables);
    if (space_restrict(s, child, v, bit)) masks[n++] = bit;
  }
  return n;
}

static double random_unit(Space *s) {
  uint64_t x = s->random;
  x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
  s->random = x;
  return (double)((x * 2685821657736338717ull) >> 11) * (1.0 / 9007199254740992.0);
}

/* A random walk to a leaf that expands all siblings on its way: each child with the same probability (Knuth 1975). Returns the
   depth, -1 - depth at a dead end. `log_size` is log10 of the product of the numbers of children; `path` may be null. */
int space_descend(Space *s, Mask *d, const int32_t *order, int count, double *log_size, int32_t *path) {
  Mask masks[MOST_VALUES];
  int depth = 0, at = 0;
  uint32_t before = ~0u;
  *log_size = 0;
  for (;;) {
    uint32_t present = 0;
    for (int g = 0; g < s->groups; g++) if (d[s->exists[g]] == s->exists_yes[g]) present |= 1u << g;
    at = space_open(s, d, order, count, present == before ? at : 0); /* what begins to exist may come earlier */
    before = present;
    if (at < 0) return depth;
    int v = order[at], n = space_expand(s, d, v, s->children, masks);
    if (!n) return -1 - depth;
    int chosen = (int)(random_unit(s) * n);
    memcpy(d, s->children + (size_t)chosen * s->variables, sizeof(Mask) * s->variables);
    if (path) path[2 * depth] = v, path[2 * depth + 1] = masks[chosen];
    *log_size += log10(n);
    depth++;
  }
}

/* `walks` of them from `start`; per walk its depth (or -1 - depth) and its log10 of the size. */
void space_walks(Space *s, const Mask *start, Mask *d, const int32_t *order, int count, int walks, int32_t *depths,
                 double *log_sizes) {
  for (int i = 0; i < walks; i++) {
    memcpy(d, start, sizeof(Mask) * s->variables);
    depths[i] = space_descend(s, d, order, count, log_sizes + i, 0);
  }
}

/* Depth first to `depth`: nodes of each depth are added to `nodes`, leaves above it to `leaves`, childless nodes to `dead`.
   `states` holds depth + 1 states for each of 16 siblings. Prefixes of the nodes at `depth` go to `prefixes` while there is
   room. `trail` is the path so far. */
typedef struct { const int32_t *order; int count, depth; Mask *states; int64_t *nodes, *leaves, *dead; int32_t *trail, *prefixes;
                 int64_t room, kept; } Enumeration;

static void enumerate(Space *s, Enumeration *e, const Mask *d, int at_depth) {
  e->nodes[at_depth]++;
  if (at_depth == e->depth) {
    if (e->kept < e->room) memcpy(e->prefixes + e->kept++ * 2 * e->depth, e->trail, sizeof(int32_t) * 2 * e->depth);
    return;
  }
  int at = space_open(s, d, e->order, e->count, 0);
  if (at < 0) { e->leaves[at_depth]++; return; }
  int v = e->order[at];
  Mask masks[MOST_VALUES], *children = e->states + (size_t)at_depth * MOST_VALUES * s->variables;
  int n = space_expand(s, d, v, children, masks);
  if (!n) e->dead[at_depth]++;
  for (int i = 0; i < n; i++) {
    e->trail[2 * at_depth] = v, e->trail[2 * at_depth + 1] = masks[i];
    enumerate(s, e, children + (size_t)i * s->variables, at_depth + 1);
  }
}

int64_t space_enumerate(Space *s, const Mask *d, const int32_t *order, int count, int depth, Mask *states, int64_t *nodes,
                        int64_t *leaves, int64_t *dead, int32_t *trail, int32_t *prefixes, int64_t room) {
  Enumeration e = {order, count, depth, states, nodes, leaves, dead, trail, prefixes, room, 0};
  enumerate(s, &e, d, 0);
  return e.kept;
}

int64_t space_struct_bytes(void) { return sizeof(Space); }
