"""Corpora and tracker outputs, columnar in memory."""
