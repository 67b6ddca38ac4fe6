"""Tests that a task's own text shows: doctests, calls with what they return, samples of input and output."""
