// Control flow of every kind: calls, recursion, a jump table, inline assembly, a loop around a barrier.
__device__ __noinline__ int helper(int x) { return x * x + 3; }
__device__ __noinline__ float factorial(int n) { return n < 2 ? 1.0f : n * factorial(n - 1); }
__global__ void calls(int *o, float *f, int n) {
  int i = threadIdx.x;
  unsigned mask;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, p, 0xffffffff;\n\t}"
               : "=r"(mask) : "r"(n));
  if (n > 5) o[i] = helper(i) + mask; else f[i] = factorial(n);
  switch (n) {
    case 1: o[i] = 3; break;
    case 2: o[i] = 9; break;
    case 3: o[i] += 4; break;
    case 4: f[i] = 2; break;
    case 5: f[i] *= 4; break;
    case 6: atomicAdd(o, 3); break;
  }
  while (atomicAdd(&o[1], 1) < n) __syncthreads();
}
