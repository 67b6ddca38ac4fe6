"""Chunks, vectors and words on disk and in memory: what search reads."""
