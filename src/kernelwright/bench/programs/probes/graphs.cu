// What a stream records is launched twice.
__global__ void add(int *p) { atomicAdd(p, 1); }
int main() {
  int *p, h = 0;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaMalloc(&p, sizeof h);
  cudaMemset(p, 0, sizeof h);
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 8, 0, stream>>>(p);
  add<<<2, 8, 0, stream>>>(p);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0);
  cudaGraphLaunch(ready, stream);
  cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h == 48 ? 0 : 1;
}
