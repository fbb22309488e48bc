/* What the generated code, the block driver and the helpers share.

   Generated code runs one warp: i64 kernel(simt_context *, simt_frame *). It returns 0 when every lane has returned, else
   the number of the suspension point it stopped at. Offsets that generated code relies on come from ``struct_offsets.py`` as
   ABI_... macros and are asserted at the end of this file. */
#ifndef KERNELWRIGHT_SIMT_H
#define KERNELWRIGHT_SIMT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
typedef unsigned __int128 u128;

#define WARP 32
#define SHARED_BASE 0x010000000000ull
#define LOCAL_BASE 0x020000000000ull
#define WINDOW 0x010000000000ull
#define UNWRITTEN 0xCD
#define NO_BUFFER 0xFFFFFFFFu

#define INLINED static inline __attribute__((always_inline))
#define ALL_LANES(l) for (u32 l = 0; l < WARP; l++)
#define EACH_LANE(l, mask) \
  for (u32 l##_left = (mask), l = 0; l##_left && (l = (u32)__builtin_ctz(l##_left), 1); l##_left &= l##_left - 1)

/* One load, store or atomic of the kernel: what is known about it before it runs. */
enum { LOAD, STORE, ATOMIC };
enum { GENERIC, SHARED, LOCAL };
enum { FORM_LINEAR, FORM_EXTENDED, FORM_INDEXED, FORM_ADDRESSES };

typedef struct {
  u8 kind;
  u8 space;
  u8 size;       /* bytes of a component */
  u8 components; /* values per lane, next to each other in memory */
  u8 align;      /* what the address must be a multiple of */
  u8 form;       /* how the address arrives: see addresses() */
  u8 zero_extend;
  u8 segments;
  u8 segment_lanes;
  u8 spread;    /* the result is one value per segment: put it in the segment's first lane */
  u8 operation; /* atomics */
  u8 is_volatile; /* or a load or store that is atomic */
  u8 is_float;    /* of the operand of an atomic: 0 no, 1 half, 2 bfloat, 3 float, 4 double; times the number of them */
  u8 several;
  u8 stated; /* what the program says the address is a multiple of, where that is more than a GPU asks for; 0 otherwise */
  u8 is_constant; /* a load from constant memory alone: its turns are counted, one for each word that lanes ask for */
  u32 footprint; /* bytes that the inline path of one segment touches */
  i64 stride;    /* of the plain part, bytes from lane to lane */
  i64 coefficient;
  i64 root_stride;
} simt_access;

/* The changing half of an access. ``low`` and ``count`` serve the inline check: an address is good when
   rotate_right(address - low, log2 align) < count; a site without a known buffer has count 0. */
typedef struct {
  u64 low;
  u64 count;
  i64 sectors; /* 32-byte sectors beyond one per execution, atomics and global or generic accesses */
  i64 waves;   /* shared-memory wavefronts beyond one per execution */
  i64 serial;  /* further turns: atomics of lanes that hit the same address, constants of lanes that read different ones */
  u64 in_shared; /* executions of a generic access that went to shared or local memory */
  u64 in_local;
  u64 start; /* the buffer behind low and count */
  u64 end;
  u32 writable;
  u32 index;
  u64 l1_hits; /* sectors found in the simulated caches, of those looked up */
  u64 l2_hits;
  u64 looked_up;
  const simt_access *access;
  u64 reserved[2];
} simt_site;

/* The last request that an access made of shared memory, as far as its wavefronts depend on it: those of a request that only lies elsewhere are
   the same, as banks follow one another. Kept from launch to launch. */
typedef struct {
  u32 mask;      /* 0: there was none */
  u32 waves;
  u32 apart[WARP]; /* bytes from the first active lane, 0 for those that are not */
} simt_pattern;

typedef struct {
  u64 start, end;
  u32 index, writable;
} simt_buffer;

enum {
  FAULT_NONE,
  FAULT_BOUNDS,
  FAULT_MISALIGNED,
  FAULT_BARRIER,
  FAULT_TRAP,
  FAULT_ASSERT,
  FAULT_ENDLESS,
  FAULT_READ_ONLY,
  FAULT_BULK,
  FAULT_STRAY,
  FAULT_BULK_MISALIGNED,
  FAULT_WAITS,
  FAULT_ALONE, /* a barrier of the grid, and blocks that never come, or that need not all be there */
  FAULT_CALL,  /* through a pointer that is no function of its type */
};

typedef struct {
  u32 kind;
  u32 site;    /* access number, or suspension point for a barrier, or instruction for trap and assert */
  u32 block;   /* linear */
  u32 thread;  /* linear in its block */
  u64 address; /* generic */
  u32 size;
  u32 write;
  u64 detail[6]; /* assert: message, file, function (addresses), line; barrier: the other point and its thread */
} simt_fault;

typedef struct simt_frame {
  u32 resume;  /* 0: start, j: go on after suspension point j, n_points + 1: as the masks say */
  u32 start;   /* the lanes that exist */
  u32 live;    /* the lanes that have not returned */
  u32 arrived; /* lanes at the barrier the warp stopped at, where not all live ones must be */
  u32 predicate; /* barrier reductions: lanes whose predicate is true */
  u32 run;       /* split schedules: the lanes that start */
  u32 warp;
  u32 first; /* number of the first thread */
  u32 waiting;       /* lanes that wait at a point of their own: see site */
  u32 barrier_point; /* where the lanes that arrived wait; 0: none do */
  u32 conflict;      /* another barrier that lanes of this warp wait at */
  u32 pad[5];
  i32 segment_tid[3][4]; /* x, y, z of the first lane of each segment */
  u32 pad2[4];
  i32 tid[3][WARP];
  u32 member[WARP]; /* what lanes bring to a warp operation they wait at, and what they get */
  u64 operand[WARP];
  u64 operand2[WARP];
  u64 result[WARP];
  u32 result2[WARP];
  u32 site[WARP];  /* the suspension point a lane waits at, 0: none */
  u32 masks[];     /* per suspension point from 1 (at index 0): the lanes to go on there; saved values follow */
} simt_frame;

struct simt_check;
struct simt_cache;
struct simt_overreads;
struct simt_weak;

typedef struct simt_context {
  i64 budget; /* back edges left; negative: unwind */
  u64 shared_host;
  u64 local_host;
  u64 parameters; /* host address of the packed arguments */
  const u64 *symbols;
  simt_site *sites; /* those generated code looks at: the true ones, or copies that always miss */
  u64 *counts;      /* per block: executions, lanes */
  u64 by_value_host; /* structs passed by value, laid out as in a thread's local frame */
  u32 ctaid[3], nctaid[3], ntid[3];
  u32 barrier_result;
  u64 clock;
  u32 attention; /* every access comes to the helpers, because a check or a cache watches */
  u32 watched;   /* the cache looks at this block */
  u32 dynamic_shared, block_shared; /* bytes asked for at the launch, and all */
  u32 cooperative; /* blocks may wait for all others of the grid */
  u32 pad;
  /* below: not seen by generated code */
  simt_site *true_sites, *blind_sites; /* blind: copies that always miss */
  u32 n_sites;
  u64 shared_size, local_size, by_value_size;
  const simt_buffer *buffers;
  const simt_buffer *by_value; /* each of those structs */
  u32 n_buffers, n_by_value;
  u32 counting;
  u32 block_linear;
  simt_frame *frame; /* of the warp that runs */
  simt_fault *fault;
  struct simt_check *check;
  struct simt_cache *cache;
  u8 *print;
  u64 print_size, print_used, print_lost;
  u32 arrivals[16]; /* threads that counted at a barrier without waiting there */
  u32 overread; /* the byte that a read past a buffer gives; more than a byte: what only GPUs let pass is a fault */
  u32 pad2;
  struct simt_overreads *overreads;
  struct simt_weak *weak; /* NULL: memory is sequentially consistent */
  u32 spread;   /* other blocks of the launch run at the same time, see spread.c */
  u32 departed; /* it did what may depend on their order */
  const u8 *written; /* per buffer: whether the launch may write to it */
  const u64 *homes;  /* per access: the start of the buffer that its addresses are made from; 0: not known */
  u32 *changes;      /* where to note that global memory changes; NULL: nothing asks */
  simt_pattern *patterns; /* per access */
  u32 met[2]; /* two barriers at which warps of a block were there for each other, the first time; 0: they never were */
} simt_context;

typedef i64 (*simt_kernel)(simt_context *, simt_frame *);

void simt_fault_at(simt_context *c, u32 kind, u32 site, u32 lane, u64 address, u32 size, u32 write);
u32 simt_thread_of(const simt_context *c, u32 lane);

/* memory.c */
void simt_addresses(const simt_access *a, const u64 *rem, const i32 *root, u64 *out);
void simt_observe(simt_context *c, simt_site *s, const u64 *address, u8 *const *host, u32 mask, u32 space, const void *data);
u32 simt_resolve(simt_context *c, simt_site *s, u64 *address, u32 mask, u8 **host, u32 *space_of);
u32 simt_buffer_index(const simt_context *c, u64 address);
const simt_buffer *simt_by_value(const simt_context *c, u64 address);
const u8 *simt_find(const simt_context *c, u64 address, u64 *room, u32 *writable);

/* overread.c: reads past a buffer that a GPU lets pass. Places of bulk copies are counted from the end. */
u8 *simt_overread(simt_context *c, u32 place, u32 lane, u64 address, u32 bytes);
u32 simt_is_overread(simt_context *c, u32 place, u32 lane, u64 address, u64 bytes);
void simt_overread_bytes(const simt_context *c, u64 address, u8 *to, u64 bytes);
u32 simt_overread_holds(const simt_context *c, const u8 *host);

/* quick.c */
u32 simt_usual(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data);
u32 simt_quick_offsets(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 *offset, u8 **base);

void simt_load(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data);
void simt_store(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data);

/* hang.c */
void simt_note_store(simt_context *c, const simt_access *a, const u64 *address, u8 *const *host, u32 mask, const u8 *data);

/* counters.c */
u32 simt_distinct_sectors(const u64 *address, u32 mask, u32 bytes);
u32 simt_wavefronts(const u64 *offset, u32 mask, u32 bytes);
u32 simt_sectors(const u32 *offset, u32 skew, u32 mask);
u32 simt_waves(const u32 *offset, u32 mask, u32 bytes);
u32 simt_turns(const u32 *offset, u32 mask);
u32 simt_turns_of_parts(const u64 *offset, u32 mask, u32 lanes);
u32 simt_neighbours_differ(const u64 *offset, u32 mask);

/* cache.c: launches in which some blocks are looked at more closely */
enum { TRACE_THREAD_BLOCK, TRACE_BLOCK, TRACE_GLOBAL, TRACE_SHARED, TRACE_BARRIER, TRACE_LINE };
void simt_cache_access(simt_context *c, simt_site *s, const u64 *address, u32 mask, u32 bytes, u32 kind);
void simt_cache_block(simt_context *c);
void simt_trace(simt_context *c, u32 kind, u32 which, u32 amount);

/* What is known about a suspension point. */
typedef struct {
  u8 is_gather;
  u8 checked; /* a barrier that lanes of a warp may reach apart: all live ones must be there */
  u8 operation;
  u8 mode;
  u16 kind; /* gathers complete with gathers of the same kind */
  u16 threads; /* how many a barrier waits for; 0: all */
  u8 number;
  u8 is_grid; /* all blocks of the grid wait here for each other */
  u8 reduces; /* a barrier that gives each thread what their predicates come to */
  u8 pad;
} simt_point;

/* gather.c */
u32 simt_yielded(const simt_frame *f, const simt_point *points);
u32 simt_source_lane(u32 lane, u32 mode, u32 step_bits, u32 clamp_bits, u32 *inside);
u32 simt_complete_gathers(simt_context *c, simt_frame *f, const simt_point *points);

/* check.c */
void simt_check_access(simt_context *c, simt_site *s, const u64 *address, u8 *const *host, u32 mask, const void *data);
void simt_check_fill(simt_context *c, u32 note, u32 lane, u64 to, u64 bytes);
void simt_check_copy(simt_context *c, u32 note, u32 lane, u64 to, u64 from, u64 bytes);
void simt_check_block(simt_context *c);
void simt_check_barrier(simt_context *c);
void simt_check_warp(simt_context *c, u32 lanes);
void simt_check_arrive(simt_context *c, u32 number, u32 first, u32 lanes);
void simt_check_depart(simt_context *c, u32 number, u32 first, u32 lanes);
/* What is kept of one block while others run: of a block in a room of its own. The first room's is there from the start. */
struct simt_check_state *simt_check_state_new(simt_context *c, u32 room);
void simt_check_state_free(struct simt_check_state *s);
void simt_check_take(simt_context *c, struct simt_check_state *s);
void simt_check_grid(simt_context *c, struct simt_check_state *const *states, u32 n);

/* check_lanes.c */
void simt_check_passed(simt_context *c, u32 point, u32 thread);
void simt_check_named(simt_context *c, u32 site, u32 point, u32 l, u32 named, u32 members);
u64 simt_check_shuffled(simt_context *c, u32 point, u32 lane, u32 source, u32 members, u64 value);

/* weak.c */
void simt_weak_store(simt_context *c, u32 lane, u64 address, const u8 *data, u32 bytes, u32 strong);
void simt_weak_load(simt_context *c, u32 lane, u64 address, u8 *data, u32 bytes, u32 strong);
void simt_weak_atomic(simt_context *c, u32 lane, u64 address, u32 bytes);
void simt_weak_barrier(simt_context *c);
void simt_weak_warp(simt_context *c, u32 lanes);
void simt_weak_yield(simt_context *c);
void simt_weak_settle(simt_context *c);
void simt_weak_block(simt_context *c);
void simt_weak_end(simt_context *c);
struct simt_weak_state *simt_weak_state_new(simt_context *c, u32 room);
void simt_weak_state_free(struct simt_weak_state *s);
void simt_weak_take(simt_context *c, struct simt_weak_state *s);
void simt_weak_grid(simt_context *c, struct simt_weak_state *const *states, u32 n);

#define AGREES(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
AGREES(simt_context, budget, ABI_CONTEXT_BUDGET);
AGREES(simt_context, shared_host, ABI_CONTEXT_SHARED_HOST);
AGREES(simt_context, local_host, ABI_CONTEXT_LOCAL_HOST);
AGREES(simt_context, parameters, ABI_CONTEXT_PARAMETERS);
AGREES(simt_context, symbols, ABI_CONTEXT_SYMBOLS);
AGREES(simt_context, sites, ABI_CONTEXT_SITES);
AGREES(simt_context, counts, ABI_CONTEXT_COUNTS);
AGREES(simt_context, ctaid, ABI_CONTEXT_CTAID);
AGREES(simt_context, nctaid, ABI_CONTEXT_NCTAID);
AGREES(simt_context, ntid, ABI_CONTEXT_NTID);
AGREES(simt_context, barrier_result, ABI_CONTEXT_BARRIER_RESULT);
AGREES(simt_context, clock, ABI_CONTEXT_CLOCK);
AGREES(simt_context, attention, ABI_CONTEXT_ATTENTION);
AGREES(simt_context, watched, ABI_CONTEXT_WATCHED);
AGREES(simt_context, dynamic_shared, ABI_CONTEXT_DYNAMIC_SHARED);
AGREES(simt_context, block_shared, ABI_CONTEXT_BLOCK_SHARED);
AGREES(simt_context, cooperative, ABI_CONTEXT_COOPERATIVE);
AGREES(simt_context, by_value_host, ABI_CONTEXT_BY_VALUE_HOST);
AGREES(simt_frame, resume, ABI_FRAME_RESUME);
AGREES(simt_frame, start, ABI_FRAME_START);
AGREES(simt_frame, live, ABI_FRAME_LIVE);
AGREES(simt_frame, arrived, ABI_FRAME_ARRIVED);
AGREES(simt_frame, predicate, ABI_FRAME_PREDICATE);
AGREES(simt_frame, run, ABI_FRAME_RUN);
AGREES(simt_frame, warp, ABI_FRAME_WARP);
AGREES(simt_frame, segment_tid, ABI_FRAME_SEGMENT_TID);
AGREES(simt_frame, tid, ABI_FRAME_TID);
AGREES(simt_frame, member, ABI_FRAME_MEMBER);
AGREES(simt_frame, operand, ABI_FRAME_OPERAND);
AGREES(simt_frame, operand2, ABI_FRAME_OPERAND2);
AGREES(simt_frame, result, ABI_FRAME_RESULT);
AGREES(simt_frame, result2, ABI_FRAME_RESULT2);
AGREES(simt_frame, waiting, ABI_FRAME_WAITING);
AGREES(simt_frame, barrier_point, ABI_FRAME_BARRIER_POINT);
AGREES(simt_frame, conflict, ABI_FRAME_CONFLICT);
AGREES(simt_frame, masks, ABI_FRAME_SAVED);
AGREES(simt_frame, site, ABI_FRAME_SITE);
AGREES(simt_site, low, ABI_SITE_LOW);
AGREES(simt_site, count, ABI_SITE_COUNT);
AGREES(simt_site, sectors, ABI_SITE_SECTORS);
AGREES(simt_site, waves, ABI_SITE_WAVES);
AGREES(simt_site, serial, ABI_SITE_SERIAL);
_Static_assert(sizeof(simt_site) == ABI_SITE_BYTES, "simt_site");
_Static_assert(sizeof(simt_pattern) == ABI_PATTERN_BYTES, "simt_pattern");

#endif
