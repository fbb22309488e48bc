"""The stories: evolution and breeding, and what is made of a variant; wiring only. Exploring and tuning are not built yet."""
