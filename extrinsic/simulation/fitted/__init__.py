"""A world fitted to logs: the callers of a log answer a system that nobody has tried on them."""
