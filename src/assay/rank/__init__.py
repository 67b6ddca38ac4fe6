"""Order candidate programs: which is likely right, and how the others fail."""
