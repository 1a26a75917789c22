"""`python -m blox` is the command `blox`."""

from blox.cli.main import main

if __name__ == "__main__":
    main()
