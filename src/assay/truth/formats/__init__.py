"""One module a format of ground truth."""
