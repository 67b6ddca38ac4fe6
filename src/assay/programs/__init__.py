"""Run candidate programs against the tests of tasks, and say how each one failed."""
