"""Read, write, mine and audit ground truth, and check it against its checkout."""
