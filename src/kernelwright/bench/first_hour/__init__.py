"""A new user's first hour: the commands that README and docs show, typed one after the other, with a clock beside them."""
