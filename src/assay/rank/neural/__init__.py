"""A transformer that reads a task and a program, and says how likely the program is right and how it fails."""
