"""Run a program and its tests inside the cage, in two processes, with the standard library only."""
