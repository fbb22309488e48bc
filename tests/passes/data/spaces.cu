// Section 3.3: a store to global memory between two loads from shared memory, which cannot overlap.
extern __shared__ float tile[];
__global__ void reuse(float *g) {
  int i = threadIdx.x;
  float first = tile[i];
  g[i] = 1.0f;
  float second = tile[i];
  g[i + 32] = first + second;
}

// The same within one space: here the second load must stay.
__global__ void overlap(float *g, float *h) {
  int i = threadIdx.x;
  float first = h[i];
  g[i] = 1.0f;
  float second = h[i];
  g[i + 32] = first + second;
}
