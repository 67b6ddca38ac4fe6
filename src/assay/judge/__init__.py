"""Judge whether a code answers a query, by evidence, by tests, or by a model."""
