"""Resumable work over items: the records a run leaves, and the places where it runs."""
