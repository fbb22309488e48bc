"""SRAD: speckle-reducing anisotropic diffusion of an image, two tiled kernels."""
