"""The `nashmon` command: one verb per file, no logic."""
