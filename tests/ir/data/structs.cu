#include "device.h"
// Aggregates: structs by value, virtual calls, arrays in registers, vectors, strings, printf, half precision.
extern "C" __device__ int vprintf(const char *, const char *);
extern "C" __device__ int printf(const char *, ...);
inline __attribute__((device)) void *operator new(__SIZE_TYPE__, void *p) { return p; }
struct Vec { float x, y, z; };
struct __attribute__((packed)) Packed { char tag; int value; short more; };
struct Shape { int id; __device__ virtual float area(float s) { return s * id; } };
struct Disc : Shape { float radius; __device__ float area(float s) override { return s * radius * radius; } };
struct Particle { Vec position, speed; float mass; int tags[3]; union { int i; float f; } bits; };
__device__ Particle seeds[4] = {{{1, 2, 3}, {0, 0, 0}, 0.1f, {1, 2, 3}, {7}}};
__device__ const char *messages[2] = {"first \"quoted\"\n", "second\t"};
__device__ Packed packed = {'x', 258, -2};
__constant__ double table[3] = {0.1, 1e300, -0.0};

INLINE Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

__device__ __attribute__((noinline)) Particle advance(Particle p, float dt) {
  Vec c = cross(p.position, p.speed);
  p.position.x += c.x * dt; p.position.y += c.y * dt; p.position.z += c.z * dt;
  p.tags[2] = p.tags[0] ^ p.bits.i;
  return p;
}

__global__ void move(Particle *particles, int n, float dt, bool *alive, signed char *bytes) {
  int i = position();
  if (i >= n) return;
  Particle p = advance(particles[i], dt);
  if (p.mass < seeds[i & 3].mass) p.bits.f = p.mass;
  particles[i] = p;
  alive[i] = p.mass > 0 && alive[i + 1];
  bytes[i] = (bytes[i] << 2) | ((unsigned char)bytes[i + 1] >> 3);
  packed.value += packed.tag;
}

__global__ void areas(Shape **shapes, float4 *out, double *d, __fp16 *h) {
  int i = position();
  float4 v = out[i];
  v.x += shapes[i]->area(v.y) * table[i % 3];
  out[i] = float4{v.w, v.x, v.y, v.z};
  d[i] = __builtin_fma(d[i], 0.1, table[1]);
  h[i] = (__fp16)((float)h[i] * 1.5f + 0.3f);
  if (i == 0) printf("%s %d %f\n", messages[i & 1], i, (double)v.x);
}

__global__ void make(Disc *d) { new (d) Disc(); d->radius = 2; d->id = 3; }
