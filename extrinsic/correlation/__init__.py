"""Which metric goes with what a tracker is worth: coefficients, their uncertainty, and what moves them.

Arrays throughout: metrics (..., n_metrics, n_datasets, n_trackers), targets (..., n_targets, n_datasets,
n_trackers), higher is better in both; every tracker stands on every dataset. Leading axes are resamples or
permutations. Results are (..., n_metrics, n_targets).
"""
