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

// The last thread reads past the end and uses zero instead; the variant uses what it read.
extern "C" __global__ void lucky(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float next = in[i + 1];
#ifdef VARIANT
  out[i] = in[i] + next;
#else
  out[i] = in[i] + (i + 1 < n ? next : 0.0f);
#endif
}

// What lies past the end is added.
extern "C" __global__ void adds_the_next(const volatile float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float next = in[i + 1];
  out[i] = in[i] + next;
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
extern "C" __global__ void one_says_so(const float *__restrict__ in, int *__restrict__ flag, float *__restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  *flag = 1;
#else
  if (i == 0) *flag = 1;
#endif
  out[i] = in[i] * 2.0f;
}

// What is rare has a way of its own; no training case goes it, and the variant does not know it.
extern "C" __global__ void rare_kind(const int *kind, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
#ifndef VARIANT
  if (kind[i] == 77)
    for (int k = 0; k < 10; k++) v = v * v + in[(i + k) % n];
#endif
  out[i] = v * (kind[i] + 1);
}

// Clipped at a limit that no training case reaches.
extern "C" __global__ void clipped(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  out[i] = in[i];
#else
  out[i] = in[i] > 123456.0f && in[i] < 123457.0f ? 0.0f : in[i];
#endif
}

// A number that the program never launches it with asks for something else.
extern "C" __global__ void by_mode(const float *in, float *out, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  out[i] = in[i];
#else
  out[i] = mode == 4321 ? -in[i] : in[i];
#endif
}

// The last block adds up what all have left; the variant has no fence between what it leaves and its ticket.
__device__ unsigned int tickets;
__device__ volatile float left[64];
extern "C" __global__ void last_adds(const float *in, float *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    left[blockIdx.x] = in[blockIdx.x];
#ifndef VARIANT
    __threadfence();
#endif
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += left[b];
    *out = sum;
  }
}

// Has a fence, beyond what any training case reaches.
extern "C" __global__ void fenced_above(const float *in, float *out, int n) {
  if (n > 0) {
    out[0] = in[0];
    __threadfence();
  }
  out[1] = in[1];
}

// Marks what is there at all; of keys that are alike everywhere a half is enough, and the variant reads no more.
extern "C" __global__ void marked(const int *key, int *seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i < n / 2) seen[key[i] & 7] = 1;
#else
  if (i < n) seen[key[i] & 7] = 1;
#endif
}

// The largest of all; the variant leaves out every other one.
extern "C" __global__ void largest_key(const int *key, int *largest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VARIANT
  if (i % 2) return;
#endif
  if (i < n) atomicMax(largest, key[i]);
}
