"""The look of a page and its figures."""
