// Included by the headers of cub that we do not have.
#error "this part of cub is among NVIDIA's headers: compile with --headers nvidia"
