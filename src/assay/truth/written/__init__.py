"""Ground truth that a language model writes: which units it is asked about, and what of its answers can be used."""
