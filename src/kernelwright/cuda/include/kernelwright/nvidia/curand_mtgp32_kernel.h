// clang's wrapper of NVIDIA's headers includes this header of cuRAND in every program, to mend a quarrel between the two.
// Where cuRAND is not installed there is nothing to mend.
