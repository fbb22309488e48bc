// Small kernels for the steps that the paper does not draw: each has something for one of them to do.
__global__ void local_array(int *a, int i) {
  int v[4] = {a[0], a[1], a[2], a[3]};
  a[threadIdx.x] = v[1] + v[2] * i;
}

__global__ void invariant(float *a, const float *__restrict__ b, int n, float x, float y) {
  for (int i = 0; i < n; ++i) a[i] = b[i] * (x / y);
}

__global__ void redundant(float *a, const float *__restrict__ b, bool p) {
  float x = b[3];
  if (p) a[0] = b[3] + 1.0f;
  a[1] = x;
}

__global__ void overwritten(float *__restrict__ a, float *__restrict__ b, int n) {
  a[0] = 1.0f;
  for (int i = 0; i < n; ++i) b[i] = 2.0f;
  a[0] = 3.0f;
}

__global__ void pairs(float2 *a) {
  float2 v = a[threadIdx.x];
  a[threadIdx.x + 32] = make_float2(v.y, v.x);
}

__global__ void sums(int *out, int a, int b, int c, int d) {
  out[0] = (a + b) + c;
  out[1] = (d + c) + (b + a);
}
