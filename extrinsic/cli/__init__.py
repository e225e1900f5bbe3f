"""The command line: `commands.py` has the arguments, and there is one module per command that does the work."""
