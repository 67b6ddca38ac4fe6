"""Rank programs by how likely a language model finds each of them right."""
