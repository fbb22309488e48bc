// A node of a graph that runs its body while a condition holds.
int main() {
  cudaGraph_t graph;
  cudaGraphConditionalHandle handle;
  if (cudaGraphCreate(&graph, 0) != cudaSuccess) return 2;
  return cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault) == cudaSuccess ? 0 : 1;
}
