"""Nearest neighbours: the k records nearest to a latitude and longitude."""
