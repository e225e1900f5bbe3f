"""The tables of a run: one schema each, one reader and one writer."""
