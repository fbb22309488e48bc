// What every thrust header of ours says. NVIDIA's own are in the [nvidia] extra.
#error "thrust needs the [nvidia] extra: pip install 'kernelwright[nvidia]'"
