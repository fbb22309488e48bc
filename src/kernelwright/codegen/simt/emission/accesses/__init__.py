"""How a warp asks memory: addresses, loads and stores in line or by calls of the runtime."""
