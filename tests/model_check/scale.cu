// A kernel with two parameters, for cache files made by hand.
__global__ void scale(float* out, const float* in, int n) {
  for (int k = 0; k < per_thread; ++k) {
    int i = (blockIdx.x * per_thread + k) * block_size_x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
  }
}
