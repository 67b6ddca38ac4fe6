"""The ranker `consensus`: what surely fails in a program, and how central it is among the others."""
