"""Listing services as values: the abilities of each, and the requests that it takes."""
