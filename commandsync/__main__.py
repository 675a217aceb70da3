"""`python -m commandsync`: the command line."""

from commandsync.cli import main

if __name__ == "__main__":
    main()
