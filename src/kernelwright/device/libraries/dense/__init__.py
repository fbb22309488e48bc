"""cuSOLVER's dense interface on the virtual GPU: factorisations, systems, eigenvalues and singular values."""
