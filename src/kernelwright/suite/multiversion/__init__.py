"""Programs of several versions, for ``kw tune``; ``table.py`` has them all."""
