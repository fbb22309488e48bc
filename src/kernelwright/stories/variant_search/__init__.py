"""Parts of stories that search variants of kernels, whatever their candidates: asking, measuring again, proving what came out."""
