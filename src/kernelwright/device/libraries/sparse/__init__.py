"""cuSPARSE on the virtual GPU: products, systems and conversions of sparse matrices."""
