"""How a page and its figures look."""
