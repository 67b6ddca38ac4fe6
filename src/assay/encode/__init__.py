"""Turn texts into vectors: the shipped static table, and every other encoder behind the same protocol."""
