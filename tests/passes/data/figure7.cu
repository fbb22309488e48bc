// The paper's Figure 7: two conditional loads whose addresses share a part.
__global__ void pick(const float *a, float *out, long i, long j, bool b, bool c) {
  float u = 0.0f, v = 0.0f;
  if (b) u = a[i];
  if (c) v = a[i + j];
  *out = u + v;
}
