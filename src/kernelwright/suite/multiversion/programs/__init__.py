"""The programs of Table 1 of paper 003 as nested computations, written from what they compute."""
