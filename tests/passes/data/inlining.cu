// Section 3.1: a function worth inlining, and a loop worth unrolling.
__device__ float blend(float x, float y, int n) {
  float r = x;
  for (int i = 0; i < n; ++i) r = r * y + x / (y + r);
  return r;
}
__global__ void apply(float *a, int n) {
  float s = 0.0f;
  for (int i = 0; i < 8; ++i) s += blend(a[i], a[i + 1], n) + blend(a[i + 1], a[i], n);
  a[threadIdx.x] = s;
}
