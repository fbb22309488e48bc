// The paper's Figure 4: a pointer that walks through shared memory and never names it again.
__global__ void walk(float *out, const float *in, int count) {
  __shared__ float a[1024];
  a[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float sum = 0.0f;
  float *p = a;
  float *end = a + count;
  while (p != end) {
    sum += *p;
    ++p;
  }
  out[threadIdx.x] = sum;
}
