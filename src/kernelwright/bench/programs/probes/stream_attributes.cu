// A window of memory that should stay in L2, set for a stream and given back.
__global__ void add(int *p) { atomicAdd(p, 1); }
int main() {
  int *p, h = 0;
  cudaStream_t stream, other;
  cudaStreamAttrValue value = {}, found = {};
  cudaMalloc(&p, 1024);
  cudaMemset(p, 0, 1024);
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  value.accessPolicyWindow.base_ptr = p;
  value.accessPolicyWindow.num_bytes = 1024;
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  if (cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) != cudaSuccess) return 2;
  if (cudaStreamCopyAttributes(other, stream) != cudaSuccess) return 3;
  if (cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found) != cudaSuccess) return 4;
  add<<<1, 32, 0, other>>>(p);
  cudaStreamSynchronize(other);
  cudaCtxResetPersistingL2Cache();
  cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
  return h == 32 && found.accessPolicyWindow.base_ptr == p && found.accessPolicyWindow.hitRatio == 0.5f ? 0 : 1;
}
