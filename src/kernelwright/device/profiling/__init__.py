"""What ``kw profile`` sees of a program: launches gathered by kernel, as rows of plain values."""
