"""One search in a folder of its own: settings, journal, and answers that are looked up or evaluated."""
