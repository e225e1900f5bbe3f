"""Correlation of metrics with the value of trackers: coefficients, their uncertainty and their robustness.

Arrays throughout: metrics (..., n_metrics, n_datasets, n_trackers), targets (..., n_targets, n_datasets,
n_trackers), higher is better in both; every tracker has a value on every dataset. Leading axes are resamples
or permutations. Results are (..., n_metrics, n_targets).
"""
