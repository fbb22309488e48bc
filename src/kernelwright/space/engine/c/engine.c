/* Propagation of a packed space (packing.py): domains in one uint16 array, which is copied instead of undone.

   The engine knows variables, tables, clauses, counters and presence; no choice by name. What it computes is defined by
   oracle.py: the greatest common fixpoint of all constraints, which is independent of the order of decisions because every
   rule below removes more when domains are smaller or more objects exist, never less. */

#include <math.h>
#include <string.h>

#include "clauses.h"
#include "counters.h"
#include "relations.h"
#include "space.h"

/* What has neither tables nor its literals side by side. */
static inline int visit_rest(Space *s, Mask *d, int v) {
  const Node *node = s->nodes + v;
  for (int i = node[0].wide; i < node[1].wide; i++)
    if (!visit_wide(s, d, v, s->wide + s->wide_watch[i])) return 0;
  for (int i = node[0].longs; i < node[1].longs; i++) {
    const Watch *w = s->long_watch + i;
    if (d[v] & w->mask) continue;
    for (int j = w->first; j < w->last; j++)
      if (!visit_clause(s, d, s->longs[j])) return 0;
  }
  for (const Counted *k = s->counted + node[0].counted, *end = s->counted + node[1].counted; k < end; k++)
    if (!(d[v] & k->mask)) s->dirty[k->word] |= k->counters;
  return 1;
}

/* Constraints among variables that are not all the group's may restrict from now on what does not belong to it: each is
   visited once, for the first of its variables that does. The others held already. */
static int begin_existing(Space *s, Mask *d, int group) {
  s->present |= 1u << group;
  for (int i = s->group_first[group]; i < s->group_first[group + 1]; i++) {
    int v = s->group_variables[i];
    if (s->presence[v] & s->dead) continue;
    if (!d[v] && !refuse(s, d, s->presence[v])) return 0;
    if (s->queued[v]) continue;
    s->propagations++;
    const Node *node = s->nodes + v;
    if (!visit_pairs(s, d, v, node->waiting_binary) || !visit_triples(s, d, v, node->waiting_ternary)) return 0;
    if (!visit_shorts(s, d, v, 0) || !visit_rest(s, d, v)) return 0;
  }
  return 1;
}

static int visit(Space *s, Mask *d, int v) {
  if (s->presence[v] & s->dead) return 1;
  s->propagations++;
  const Node *node = s->nodes + v;
  const int group = s->group_of[v];
  if (group >= 0 && d[v] == s->exists_yes[group] && !(s->present >> group & 1) && !begin_existing(s, d, group)) return 0;
  if (!visit_pairs(s, d, v, node[1].binary) || !visit_triples(s, d, v, node[1].ternary)) return 0;
  return visit_shorts(s, d, v, 1) && visit_rest(s, d, v);
}

/* A counter that is to be visited, which is no longer then; -1 when none is. */
static int next_counter(Space *s) {
  for (int word = 0; word * 64 < s->counters; word++) {
    if (!s->dirty[word]) continue;
    const int bit = __builtin_ctzll(s->dirty[word]);
    s->dirty[word] &= s->dirty[word] - 1;
    return word * 64 + bit;
  }
  return -1;
}

/* Tables and clauses first: counters are the dearest, and wake often. `ok` is 0 when a domain is empty already. */
static int propagate(Space *s, Mask *d, int ok) {
  for (int k; ok;) {
    if (s->waiting) {
      int v = s->queue[s->head];
      if (++s->head == s->variables) s->head = 0;
      s->waiting--;
      s->queued[v] = 0;
      ok = visit(s, d, v);
    } else if ((k = next_counter(s)) >= 0) {
      ok = visit_counter(s, d, k);
    } else {
      return 1;
    }
  }
  while (s->waiting) {
    s->queued[s->queue[s->head]] = 0;
    if (++s->head == s->variables) s->head = 0;
    s->waiting--;
  }
  while (next_counter(s) >= 0) continue;
  return 0;
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
