"""The ranker `consensus`: what can be seen in a program, and how central it is among the others."""
