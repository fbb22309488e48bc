// What the headers of thrust say that are not ours.
#error "this part of thrust is among NVIDIA's headers: compile with --headers nvidia"
