"""Store chunks, vectors and words on disk and in memory, for search to read."""
