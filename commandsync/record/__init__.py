"""Record a bot: run its program once against stand-ins of the platforms (extra `[record]`)."""
