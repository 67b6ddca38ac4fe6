"""Everything that learns weights."""
