/* A launch as the host prepares it (``runtime_structs.py``), and what runs its blocks. */
#ifndef KERNELWRIGHT_LAUNCH_H
#define KERNELWRIGHT_LAUNCH_H

#include "simt.h"

/* What differs from launch to launch. */
typedef struct {
  i64 budget;
  const u64 *symbols;
  const simt_buffer *buffers;
  u32 n_buffers;
  u32 grid[3];
  u32 overread;
  u32 cooperative;
  u64 table; /* which table of buffers this is: as long as it is the same, accesses stay in what they knew */
} simt_request;

typedef struct {
  simt_context context;
  simt_request request;
  simt_kernel kernel;
  u8 *frames; /* n_warps * frame_size */
  u64 frame_size;
  u64 local_bytes; /* per thread */
  u64 fresh_bytes; /* of those, the first so many are made unwritten before each block */
  u8 *local;       /* n_warps * 32 * local_bytes */
  u8 *shared;
  u32 n_warps, n_threads;
  u32 segments;
  u32 n_points;
  const simt_point *points; /* from index 1 */
  const u32 *block_order;  /* NULL: rising */
  const u32 *warp_order;   /* n_warps entries per row, one row per block modulo warp_rows; NULL: rising */
  u32 warp_rows;
  u32 n_groups;            /* split schedules: groups of lanes per warp; 0: warps run in step */
  const u32 *groups;       /* n_groups masks per warp, one row of warps per block modulo group_rows */
  u32 group_rows;
  u32 watch_every; /* the caches look at every n-th block; 0: none */
  u64 blocks_done;
  const u32 *watch_list; /* or at these, if there are any */
  u32 n_watch_list;
  u32 new_shape; /* the frames do not know their threads yet */
  const simt_site *fresh_sites; /* as sites are before a launch */
  u32 n_counts;                 /* numbers in context.counts */
  u32 n_order;                  /* entries of block_order, where it is a sample of the blocks; 0: all of them */
  u64 pause_ns; /* between two blocks the launch is left when it has run for so long, and may be gone on with; 0: never, 1: before the first */
  u32 goes_on;  /* it is: what was counted and noted stays */
  u32 halted;   /* it is to end, and so are those that run some of its blocks: see spread.c */
  u64 patience_ns; /* for how long a block may wait that nothing in this process can help: the host may */
  u64 placed;      /* the block that the context was told it is */
  u64 known_table; /* the table of the last launch; 0: there was none */
  struct simt_worker *workers;
  u64 n_workers;
} simt_launch;

u64 simt_now_ns(void);

/* hang.c: rounds of warps in a row that only waited. */
typedef struct {
  u64 rounds, next; /* how many, and after how many they are compared */
  u8 *kept;         /* the state before the round that is compared */
  u64 clock, printed;
  u32 attention, changed;
} simt_quiet;

int simt_hangs(simt_launch *l, simt_quiet *q, u32 only_waited);
void simt_quiet_begin(simt_launch *l, simt_quiet *q);
void simt_quiet_end(simt_launch *l, simt_quiet *q);

/* What a block needs to itself, while others have begun and not ended. */
typedef struct {
  u8 *frames, *local, *shared, *memory;
  struct simt_check_state *check;
  struct simt_weak_state *weak;
  u32 is_taken, pad;
} simt_room;

/* A block that has begun. */
typedef struct {
  u64 number;
  u8 state[32];     /* of each warp */
  u32 arrivals[16]; /* of the context, while others run */
  u32 left;         /* warps that have not ended */
  u32 began, did;   /* since it was last gone on with: whether a warp did anything but wait */
  u32 watched, at_grid, barrier_result;
  u32 room;
} simt_block;

enum { BLOCK_ENDED, BLOCK_WAITS, BLOCK_HANGS, BLOCK_AT_GRID, BLOCK_STOPPED };

/* driver.c: runs a block, from its beginning or from where it was left. It is left when it has only waited for ``patience`` rounds of its
   warps (0: never), when it waits and a whole round has changed nothing, and at a barrier of the grid. */
u32 simt_run_rounds(simt_launch *l, simt_block *b, u64 patience);
/* Blocks that are not watched are run with less ado: straight, where nothing waits in them, and in step, where warps wait at barriers for
   the whole block alone, of which all lanes of a warp come to the same. */
enum { WAY_ROUNDS, WAY_IN_STEP, WAY_STRAIGHT };
u32 simt_way(const simt_launch *l);
u32 simt_run_straight(simt_launch *l);
u32 simt_run_in_step(simt_launch *l, simt_block *b, u64 patience);
void simt_set_up_frames(simt_launch *l);
u32 simt_first_waiting(const simt_launch *l, const simt_block *b, u32 *warp, u32 *lane);

/* Runs one block, given by its linear number, to its end in the launch's way; the budget is negative where it did not come there. */
void simt_run_block(simt_launch *l, u64 block, u32 way);

/* resident.c */
void simt_place_block(simt_launch *l, u64 block);

#endif
