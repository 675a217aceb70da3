"""The GitHub Action: a bootstrap, then inputs -> core -> outputs, summary, comment."""
