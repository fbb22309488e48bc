/* What the checker keeps while a launch is watched. */
#ifndef KERNELWRIGHT_CHECK_H
#define KERNELWRIGHT_CHECK_H

#include "simt.h"

/* PASSED: threads wait for others that have gone on; ENDED: a mask names lanes that have ended, which nothing waits for; MASKS: lanes
   that meet name different ones; ABSENT: a shuffle reads a lane that does not take part; ASKEW: an address is not what the program
   states, which a GPU may let pass. */
enum { FIND_RACE, FIND_UNWRITTEN, FIND_PASSED, FIND_ENDED, FIND_MASKS, FIND_ABSENT, FIND_ASKEW };
#define AT_POINT 0x40000000u /* a finding's site is a suspension point */
enum { SCOPE_WARP, SCOPE_BLOCK, SCOPE_GRID };

/* Something that is wrong: one for each pair of accesses, not for each byte. */
typedef struct {
  u32 kind, scope;
  u32 site, other_site;
  u32 block, thread, other_block, other_thread;
  u64 address;
  u32 size, write, other_write, benign;
  u32 atomic, other_atomic;
  u64 count;
} simt_finding;

/* An access as later ones see it. ``time``: how often its thread had synchronised; ``epoch``: barriers of its block. */
typedef struct {
  u32 block;
  u16 thread;
  u16 flags;
  u32 time, epoch;
  u32 site;
} simt_record;
enum { IS_THERE = 1, IS_WRITE = 2, IS_ATOMIC = 4, IS_SILENT = 8 };

/* A word of memory, or a byte of one that was touched in parts. Readers that may matter: the last one, one more of its
   warp, one of another warp, one of another block; those three are in ``others``, when there are any. */
typedef struct {
  simt_record write, read;
  u32 value;
  u32 others; /* index in the pool, 0: none */
  u32 bytes;  /* index in the pool of the four cells of its bytes, 0: not taken apart */
} simt_cell;

/* What threads got to know through an atomic: which threads acted on it, and what each knew then. */
struct simt_log;
typedef struct simt_knowledge {
  struct simt_log *log; /* the first ``n`` entries of a log; NULL: everything in ``parts`` */
  u64 n;
  struct simt_knowledge **parts;
  u64 stamp;
} simt_knowledge;
typedef struct {
  simt_record who; /* time and epoch when it came by */
  simt_knowledge *knew;
  const u32 *lanes; /* up to when it knew each lane of its warp, NULL: of none */
} simt_passage;
#define LOG_SLOTS 65536
typedef struct simt_log {
  u64 address;
  simt_passage *entries;
  u64 n, room;
  struct simt_log *next;
} simt_log;

#define PAGE_WORDS 1024
typedef struct simt_page {
  u64 number;
  struct simt_page *next;
  simt_cell cells[PAGE_WORDS];
} simt_page;

typedef struct simt_check {
  u32 races, unwritten;
  u8 **written; /* per buffer: a flag per byte, or NULL */
  u8 *shared_written, *local_written;
  simt_finding *findings;
  u32 n_findings, max_findings;
  u32 incomplete; /* memory ran out, or it took too long: not everything was followed */
  u32 touched;    /* also note in the flags which bytes are read and written */
  u32 n_threads;
  u32 n_points;
  u32 filler;   /* what a shuffle gives that reads a lane which does not take part */
  u32 pad;
  u32 *passed;  /* per warp and suspension point from 0: the lanes that have passed it by */
  u64 limit, used; /* bytes of shadow */
  /* inside */
  u32 epoch;
  u32 *times;             /* per thread */
  u32 *known;             /* per warp: what lane l knows of lane k */
  simt_knowledge **knows; /* per thread */
  struct simt_page **pages;
  u64 n_pages;
  u32 page_shift; /* 64 less the logarithm of how many slots there are for them */
  simt_cell *pool;
  u32 pool_n, pool_room;
  simt_log **logs; /* LOG_SLOTS of them; none before the first atomic */
  void **blocks; /* allocations to free */
  u64 n_blocks, room_blocks;
  u64 stamp;
  u64 steps; /* of the searches in knowledge, see passed() */
  u64 room;  /* of the block that runs, in the upper bits of addresses in its shared memory */
  struct simt_check_state *state; /* where the block's own lies when it is left; NULL: none ever was */
} simt_check;

/* What is kept of a block while others run. */
typedef struct simt_check_state {
  u32 *times, *known, *passed;
  simt_knowledge **knows;
  u8 *shared_written, *local_written;
  u64 room;
  u32 epoch, is_own;
} simt_check_state;

void simt_check_found(simt_check *k, const simt_finding *f);

#endif
