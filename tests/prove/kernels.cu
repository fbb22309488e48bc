// Originals, and variants (-DVARIANT), for what the planted set does not have: originals that are not above reproach.

// All threads that find something write the same: a race, and nobody minds.
extern "C" __global__ void any_negative(const float *in, int *any, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] < 1.0f) *any = 1;
#ifndef VARIANT
  __syncthreads();
#endif
  out[i] = in[i] + 1.0f;
}

// The last thread reads one element past the end, and does not use it. The variant reads another one past it.
extern "C" __global__ void looks_ahead(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float next = in[i + 1];
#ifdef VARIANT
  float further = in[i + 2];
  out[i] = i + 1 < n ? next : (n < 0 ? further : 0.0f);
#else
  out[i] = i + 1 < n ? next : 0.0f;
#endif
}

// Reads past the end as before, and is otherwise another kernel with the same results.
extern "C" __global__ void looks_ahead_again(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef VARIANT
  __syncthreads();
#endif
  float next = in[i + 1];
  out[i] = i + 1 < n ? next : 0.0f;
}

// The variant writes one element past the end.
extern "C" __global__ void writes_behind(const volatile float *in, volatile float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float next = in[i + 1];
  out[i] = i + 1 < n ? next : 0.0f;
#ifdef VARIANT
  if (i + 1 == n) out[i + 1] = 0.0f;
#endif
}

// Sums in whatever order the threads come.
extern "C" __global__ void sum_of_floats(const float *in, float *sum) {
#ifdef VARIANT
  __syncthreads();
#endif
  atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

// The variant does not end.
extern "C" __global__ void ends(const int *in, int *out) {
#ifdef VARIANT
  for (volatile int k = 0; k < 1; k = k * in[0]) out[threadIdx.x] = k;
#else
  out[threadIdx.x] = in[threadIdx.x];
#endif
}

// Squares, in two launches from the host; the variant takes the sign of the training data for granted.
extern "C" __global__ void twice(float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n) values[i] = values[i] + values[i];
#else
  if (i < n) values[i] = values[i] + fabsf(values[i]);
#endif
}

// Where two keys are the same, the last one wins, whichever that is.
extern "C" __global__ void scatter(const int *keys, const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef VARIANT
  __syncthreads();
#endif
  out[keys[i]] = in[i];
}

// One thread says that it was here; in the variant all do, and say the same.
extern "C" __global__ void one_says_so(const float *in, int *flag, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  *flag = 1;
#else
  if (i == 0) *flag = 1;
#endif
  out[i] = in[i] * 2.0f;
}
