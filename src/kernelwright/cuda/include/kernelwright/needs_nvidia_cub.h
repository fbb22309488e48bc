// What the headers of cub say that are not ours.
#error "this part of cub is among NVIDIA's headers: compile with --headers nvidia"
