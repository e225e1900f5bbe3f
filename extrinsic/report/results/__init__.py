"""What the tables of a run say, in names, numbers and sentences."""
