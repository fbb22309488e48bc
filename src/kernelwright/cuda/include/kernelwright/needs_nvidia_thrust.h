// Included by the headers of thrust that we do not have.
#error "this part of thrust is among NVIDIA's headers: compile with --headers nvidia"
