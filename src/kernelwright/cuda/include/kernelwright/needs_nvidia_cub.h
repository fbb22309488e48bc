// What every cub header of ours says. NVIDIA's own are in the [nvidia] extra.
#error "cub needs the [nvidia] extra: pip install 'kernelwright[nvidia]'"
