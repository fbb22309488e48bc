"""The second stage: what is known of a ``Program`` before code is written: uniformity, address spaces, liveness, ranges."""
