"""Support vector machine: training on handwritten digits, a block of threads per pair of classes."""
