"""From beliefs to decisions: what a dialog is worth, and policies that learn from it."""
