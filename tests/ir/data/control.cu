#include "device.h"
// Control flow: switches, loops in loops, early exits, a loop with two entries, recursion, unreachable ends.
__device__ __attribute__((noinline)) int classify(int k) {
  switch (k) {
    case 0: return 5;
    case 3: case 4: return k * 3;
    case 7: k += 2;  // falls through
    case 8: return k;
    case 1000000: return -1;
    default: return k < 0 ? -k : 77;
  }
}

__device__ int depth(int n) { return n <= 1 ? 1 : depth(n / 2) + depth(n - 2); }

__global__ void nested(float *m, int n, int *out) {
  int counts[8] = {0};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (m[i * n + j] < 0) continue;
      if (m[j] > 100.f) break;
      counts[(i + j) & 7] += j;
    }
    do { m[i] *= 0.5f; } while (m[i] > 1.f);
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) out[k] += counts[k] + classify(out[k + 8]);
  out[9] = depth(out[10]);
}

__global__ void two_entries(int *p, int n, bool second) {
  int i = 0;
  if (second) goto middle;
top:
  p[i] += 1;
  if (p[i] > n) goto out;
middle:
  i += p[i] & 3;
  if (i < n) goto top;
out:
  p[0] = i;
}

__global__ void ends(int *p, long n, unsigned short s) {
  if (*p == 0) __nvvm_exit();
  if (*p == 1) __builtin_trap();
  while (true) {
    long q = n / (*p | 1);
    unsigned r = (unsigned)n % (s + 1u);
    if (q == 5 || r == 9) { p[1] = (int)(q << (s & 31)); return; }
    switch (s & 3) { case 0: n -= 3; break; case 1: n ^= 9; break; default: n >>= 1; }
    *p = (int)n;
  }
}
