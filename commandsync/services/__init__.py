"""Listing services as values: what each can do, and the requests that it takes."""
