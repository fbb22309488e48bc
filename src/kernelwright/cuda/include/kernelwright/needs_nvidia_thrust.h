// What every thrust header of ours says.
#error "thrust is among NVIDIA's headers: compile with --headers nvidia"
