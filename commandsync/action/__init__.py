"""The GitHub Action's entrance: a bootstrap, then inputs -> core -> outputs, summary, comment."""
