/* A packed space (packing.py), and how a domain becomes smaller. */

#pragma once

#include <stdint.h>

typedef uint16_t Mask;

typedef struct { int32_t other; uint32_t table; int32_t constraint; } Binary;
typedef struct { uint16_t second, third; uint32_t row; } Ternary;
typedef struct { uint16_t to_third, to_second; } Pair;
typedef struct { int32_t relation, constraint; int32_t variable[3]; } Wide;
typedef struct { uint16_t variable; Mask mask; } Literal;
/* Clauses that share the literal of a variable with the values `mask`: `first` to `last`, those before `waiting` as in Node. The others
   of each lie side by side, `width` of them; two only where another literal is shared, too. `next_mask` and `next_gate`: how many
   watches further on there is another of them. */
typedef struct { int32_t first, waiting, last, others; Literal gate, shared; Mask mask; uint16_t width, next_mask, next_gate; } Watch;
typedef struct { int32_t guard[2]; Mask guard_mask[2]; int32_t amount; uint32_t objects; double constant; } Member;
typedef struct { int32_t first, members, sums, guard; Mask guard_mask, same_mask; int32_t same; double coefficient; } Term;
typedef struct { double limit; int32_t first, terms; } Counter;
/* Counters that a variable wakes, unless it has a value of `mask` left: bits of a word of `dirty`. */
typedef struct { uint64_t counters; int32_t word; Mask mask, unused; } Counted;
/* Where the constraints of a variable begin; those of the next variable follow. Of the binary and the ternary ones those come
   first that wait for optional objects of the variable (see begin_existing), up to `waiting_`. */
typedef struct { int32_t binary, ternary, wide, shorts, longs, counted, waiting_binary, waiting_ternary; } Node;

typedef struct {
  int32_t variables, groups, counters, wide_base, clause_base, counter_base, presence_base, unused;
  const Mask *initial; const uint32_t *presence; const int8_t *group_of; const Node *nodes;
  const int32_t *exists; const Mask *exists_yes; const int32_t *group_first, *group_variables;
  const Binary *binary; const Mask *binary_tables;
  const Ternary *ternary; const int32_t *ternary_constraint;
  const Pair *pairs; const uint8_t *ternary_tables; const uint32_t *unsettled;
  const int32_t *wide_watch; const Wide *wide;
  const int32_t *relation_first, *relation_sizes; const Mask *relation_rows, *relation_free;
  const Watch *short_watch; const Literal *shorts; const int32_t *short_clause;
  const Watch *long_watch; const int32_t *longs;
  const int32_t *clause_first; const Literal *clauses;
  const Counted *counted;
  const Counter *counter; const Term *term; const Member *member; const int32_t *same; const double *values;
  const int32_t *value_row;
  /* working memory of one caller at a time */
  int32_t *queue; uint8_t *queued; uint64_t *dirty; Mask *children;
  int64_t *log; int64_t log_room, logged;
  int32_t head, waiting; uint32_t present, dead;
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
static __attribute__((noinline)) int narrow(Space *s, Mask *d, int v, Mask value, uint32_t sources, int cause) {
  uint32_t own = s->presence[v];
  if ((sources | own) & s->dead) return 1;
  if (sources & ~(own | s->present)) return value ? 1 : refuse(s, d, sources | own);
  return assign(s, d, v, value, cause);
}
