// What every cub header of ours says.
#error "cub is among NVIDIA's headers: compile with --headers nvidia"
