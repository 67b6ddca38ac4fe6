"""The formats of ground truth, one module each."""
