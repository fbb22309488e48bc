"""Classes of mistakes in variants, a file each, with sound variants that look alike; ``table`` lists them."""
