"""A language model as ranker: how likely a program is right, and which of two is."""
