"""Tasks in, programs that models write for them out."""
