"""The first hour of somebody new: the commands that README and docs show, typed one after the other, with a clock beside them."""
