"""The virtual GPU in its fast form: memory, modules and launches in this process, with estimated times."""
