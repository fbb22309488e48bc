"""A CUDA program and its device: the worker process it talks to, what that keeps for it, and how both end."""
