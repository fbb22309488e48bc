"""The stories: evolve now; breed, explore and tune are not built yet. Wiring only, each on one screen."""
