"""The wire between a CUDA program and its device worker: messages, the structures they are made of, launches on it."""
