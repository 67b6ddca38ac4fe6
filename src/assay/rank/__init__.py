"""Candidate programs to their order: which is likely right, and how the others fail."""
