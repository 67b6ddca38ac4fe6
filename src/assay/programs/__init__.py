"""Run candidate programs against the tests of tasks, and classify how each one failed."""
