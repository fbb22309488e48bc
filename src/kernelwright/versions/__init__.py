"""Several versions in one program, behind guards ``P >= T``, and the thresholds that make it pick the right one."""
