"""Search a corpus and rank its chunks."""
