"""Find code by meaning, prove which answers are right, learn to rank, and measure all of it."""

__version__ = "0.1.0"
