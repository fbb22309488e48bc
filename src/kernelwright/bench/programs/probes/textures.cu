// A texture object over an array of two dimensions, with linear filtering.
__global__ void between(cudaTextureObject_t t, float *out) { out[0] = tex2D<float>(t, 1.0f, 0.5f); }
int main() {
  float texels[4] = {1, 3, 5, 7}, *out, h = 0;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, 2, 2);
  cudaMemcpy2DToArray(array, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  cudaMalloc(&out, sizeof h);
  between<<<1, 1>>>(texture, out);
  cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost);
  return h == 2 ? 0 : 1;
}
