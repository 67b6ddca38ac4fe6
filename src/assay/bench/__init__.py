"""Ground truth, systems under test, and what comes of asking the one about the other."""
