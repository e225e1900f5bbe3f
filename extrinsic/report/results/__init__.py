"""The results of a run in names, numbers and sentences."""
