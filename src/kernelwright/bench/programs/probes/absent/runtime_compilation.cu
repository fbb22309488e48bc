// NVRTC: source to PTX while the program runs.
#include <nvrtc.h>
int main() {
  nvrtcProgram program;
  return nvrtcCreateProgram(&program, "__global__ void k() {}", "k.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS ? 0 : 1;
}
__global__ void none() {}
