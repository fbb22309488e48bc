"""Compilers of populations, behind one interface (``backend.py``); ``breeding/table.py`` says what runs their images."""
