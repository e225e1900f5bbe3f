"""A tracker and a metric of somebody else."""
