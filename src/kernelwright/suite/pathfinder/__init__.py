"""PathFinder: cheapest path through a grid, several rows per launch with ghost zones."""
