// Calls that only libdevice can answer; sin in double carries a slow path that is not inlined.
__global__ void math(double *d, float *f) {
  int i = threadIdx.x;
  d[i] = sin(d[i]) + exp(d[i]);
  f[i] = powf(f[i], 2.5f) + sqrtf(f[i]);
}
