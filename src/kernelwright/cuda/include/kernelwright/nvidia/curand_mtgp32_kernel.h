// clang's wrapper of NVIDIA's headers includes this header of cuRAND in every program, because the two conflict otherwise.
// Where cuRAND is not installed there is no conflict.
