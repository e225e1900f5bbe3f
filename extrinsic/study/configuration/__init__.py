"""What a study is to do: its TOML file, typed and checked."""
