"""The stages that correlate: metrics against targets, for all trackers and for the core ones."""
