// cuSPARSE.
#include <cusparse.h>
int main() {
  cusparseHandle_t handle;
  return cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS ? 0 : 1;
}
__global__ void none() {}
