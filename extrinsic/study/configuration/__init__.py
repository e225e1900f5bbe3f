"""The configuration of a study: its TOML file, typed and checked."""
