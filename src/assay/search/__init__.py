"""Queries over a corpus in, ranked chunks out."""
