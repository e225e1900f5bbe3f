"""What is made of a `Panel`: correlations, core systems, comparisons, the verdict and its sentences."""
