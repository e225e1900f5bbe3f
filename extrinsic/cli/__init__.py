"""The command line: `commands.py` has the arguments, and one module per command does the work."""
