"""Simulations of other listing services: each answers as the documents of that service say."""
