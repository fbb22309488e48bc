/* What the host says about a launch whose blocks run at the same time. */
#ifndef KERNELWRIGHT_SPREAD_H
#define KERNELWRIGHT_SPREAD_H

#include "launch.h"

typedef struct simt_spread {
  u64 n_workers;
  u64 step; /* blocks that a worker takes at a time */
  u64 n_blocks;
  const u8 *written; /* see simt_context */
  const u64 *homes;
  const simt_buffer *saved; /* memory that is kept as it is, to be put back where the launch has to run in order */
  u64 n_saved;
  u8 *room; /* for it */
  u64 departed; /* out: what the host says did not hold */
  u64 busy_ns; /* out: what the workers took of the cores, all together */
  /* below: not for the host */
  simt_launch *launch;
  u64 next; /* the next block that no worker has taken */
  u32 ended, pad;
} simt_spread;

#endif
