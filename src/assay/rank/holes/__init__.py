"""A repository's own functions as tasks: candidates for a hole, labelled by the tests that run it."""
