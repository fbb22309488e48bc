"""Ways to make a population runnable, behind one interface (``backend.py``)."""
