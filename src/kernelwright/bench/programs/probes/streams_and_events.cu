// Two streams, an event between them, and its time.
__global__ void add(int *p, int n) { atomicAdd(p, n); }
int main() {
  int *p, h = 0;
  cudaStream_t a, b;
  cudaEvent_t done, begun;
  float ms = -1;
  cudaMalloc(&p, sizeof(int));
  cudaMemset(p, 0, sizeof(int));
  cudaStreamCreate(&a);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreate(&begun);
  cudaEventCreate(&done);
  cudaEventRecord(begun, a);
  add<<<1, 32, 0, a>>>(p, 1);
  cudaEventRecord(done, a);
  cudaStreamWaitEvent(b, done, 0);
  add<<<1, 32, 0, b>>>(p, 2);
  cudaMemcpyAsync(&h, p, sizeof h, cudaMemcpyDeviceToHost, b);
  cudaStreamSynchronize(b);
  cudaEventElapsedTime(&ms, begun, done);
  return h == 96 && ms >= 0 ? 0 : 1;
}
