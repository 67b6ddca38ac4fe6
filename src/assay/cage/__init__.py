"""Isolation alone: jobs in, how each ended out; what a program may touch is decided here and nowhere else."""
