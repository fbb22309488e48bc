"""Particle filter: tracking of an object through the noisy frames of a video."""
