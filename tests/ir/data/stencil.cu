#include "device.h"
// A heat stencil with a shared tile, and a dynamic programming sweep: loops, barriers, guards.
#define TILE 16
__constant__ float coefficients[8] = {0.5f, 0.1f, -0.25f};

__global__ void heat(const float *__restrict__ power, float *out, const float *in, int n, int steps, float scale) {
  __shared__ float tile[TILE][TILE];
  __shared__ float next[TILE][TILE];
  int x = __nvvm_read_ptx_sreg_tid_x(), y = __nvvm_read_ptx_sreg_tid_y();
  int column = block() * TILE + x, row = __nvvm_read_ptx_sreg_ctaid_y() * TILE + y;
  bool inside = column < n && row < n;
  if (inside) tile[y][x] = in[row * n + column];
  barrier();
  bool computed = false;
  for (int i = 0; i < steps; i++) {
    computed = false;
    if (x > i && x < TILE - 1 - i && y > i && y < TILE - 1 - i && inside) {
      computed = true;
      float centre = tile[y][x];
      next[y][x] = centre + scale * (power[row * n + column] * coefficients[i & 7]
                   + (tile[y + 1][x] + tile[y - 1][x] - 2.0f * centre)
                   + (tile[y][x + 1] + tile[y][x - 1] - 2.0f * centre));
    }
    barrier();
    if (i == steps - 1) break;
    if (computed) tile[y][x] = next[y][x];
    barrier();
  }
  if (computed) out[row * n + column] = next[y][x];
}

__global__ void paths(const int *cost, const int *before, int *after, int width, int rounds) {
  __shared__ int last[256];
  extern __shared__ int now[];
  int t = thread(), column = position();
  last[t] = before[least(column, width - 1)];
  barrier();
  for (int r = 0; r < rounds; r++) {
    int best = last[t];
    if (t > 0) best = least(best, last[t - 1]);
    if (t < threads() - 1) best = least(best, last[t + 1]);
    now[t] = best + cost[r * width + least(column, width - 1)];
    barrier();
    last[t] = now[t];
    barrier();
  }
  if (column < width) after[column] = last[t];
}
