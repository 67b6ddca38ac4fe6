"""Tasks and candidate programs in, how each program failed out."""
