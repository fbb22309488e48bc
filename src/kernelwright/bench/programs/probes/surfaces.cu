// A surface object that a kernel writes, read as a layered texture.
__global__ void write(cudaSurfaceObject_t s) { surf2DLayeredwrite(threadIdx.x + 10.0f * threadIdx.y, s, threadIdx.x * 4, 0, threadIdx.y); }
__global__ void read(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x + 0.5f, 0.5f, 1); }
int main() {
  float *out, h[4];
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 1, 2), cudaArrayLayered | cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  cudaSurfaceObject_t surface;
  cudaTextureObject_t texture;
  if (cudaCreateSurfaceObject(&surface, &resource) || cudaCreateTextureObject(&texture, &resource, &how, nullptr)) return 1;
  cudaMalloc(&out, sizeof h);
  write<<<1, dim3(4, 2)>>>(surface);
  read<<<1, 4>>>(texture, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; i++) if (h[i] != 10 + i) return 2;
  return 0;
}
