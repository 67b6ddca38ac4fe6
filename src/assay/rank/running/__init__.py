"""Rank programs by running them: on the examples of a task, and on inputs without a known answer."""
