// A template kernel, a lambda for the device, a virtual function.
struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
template <typename T, typename F> __global__ void map(T *p, F f) {
  Square square(3);
  const Shape *shape = &square;
  p[threadIdx.x] = f((T)threadIdx.x) + (T)shape->area();
}
int main() {
  float h[4], *p;
  float offset = 0.5f;
  cudaMalloc(&p, sizeof h);
  map<<<1, 4>>>(p, [=] __device__(float x) { return 2 * x + offset; });
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h[3] == 15.5f ? 0 : 1;
}
