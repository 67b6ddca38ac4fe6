"""Pairs of a query and a code to whether the code answers the query, by evidence, by tests, by a model."""
