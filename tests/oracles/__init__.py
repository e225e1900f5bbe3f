"""Plain, slow, independent implementations of every metric, to test the package against."""
