// A callback of a stream, and launches from several threads of the host.
#include <atomic>
#include <thread>
static std::atomic<int> called{0};
__global__ void add(int *p) { atomicAdd(p, 1); }
static void count(void *) { called++; }
int main() {
  int *p, h = 0;
  cudaMalloc(&p, sizeof h);
  cudaMemset(p, 0, sizeof h);
  std::thread other([=] { add<<<1, 4>>>(p); cudaDeviceSynchronize(); });
  other.join();
  add<<<1, 4>>>(p);
  cudaLaunchHostFunc(0, count, nullptr);
  cudaDeviceSynchronize();
  cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h == 8 && called == 1 ? 0 : 1;
}
