"""Isolate programs: what a program may touch is decided here and nowhere else."""
