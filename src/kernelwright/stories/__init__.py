"""The stories: evolving, breeding, exploring, tuning, and what is made of a variant; wiring only."""
