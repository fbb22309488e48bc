// NCCL: two processes, each with a GPU of its own, add up what they have and exchange it.
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>
int main() {
  ncclUniqueId id;
  ncclComm_t comm;
  int status = 1;
  ncclGetUniqueId(&id);
  pid_t child = fork();
  int rank = child == 0;
  float numbers[2] = {rank + 1.0f, rank * 10.0f}, *d;
  cudaMalloc(&d, 3 * sizeof(float));
  cudaMemcpy(d, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  if (ncclCommInitRank(&comm, 2, id, rank)) return 1;
  ncclAllReduce(d, d, 1, ncclFloat, ncclSum, comm, 0);
  ncclGroupStart();
  ncclSend(d + 1, 1, ncclFloat, 1 - rank, comm, 0);
  ncclRecv(d + 2, 1, ncclFloat, 1 - rank, comm, 0);
  ncclGroupEnd();
  cudaMemcpy(numbers, d, sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(numbers + 1, d + 2, sizeof(float), cudaMemcpyDeviceToHost);
  ncclCommDestroy(comm);
  bool right = numbers[0] == 3 && numbers[1] == (1 - rank) * 10;
  if (rank == 0) waitpid(child, &status, 0);
  return right && (rank == 1 || status == 0) ? 0 : 1;
}
