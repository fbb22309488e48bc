"""Compilers of populations, behind one interface (``backend.py``); ``breeding/back_end_table.py`` says what runs their images."""
