"""The bus world: callers who want a bus, the system that answers them, and its expert."""
