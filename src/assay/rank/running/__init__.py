"""The rankers that run programs: on the examples of a task, and on inputs that nobody has answered."""
