"""Ask systems under test, one module for each way."""
