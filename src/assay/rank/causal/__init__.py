"""Causal language models on this machine: they write programs, say how likely a text is, and are fine-tuned."""
