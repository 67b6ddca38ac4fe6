"""Ground truth: read, written, mined, audited, checked against its checkout."""
