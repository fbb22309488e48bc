"""Stochastic gradient descent with momentum: training of a small neural network on handwritten digits."""
