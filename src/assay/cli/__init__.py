"""The command line: a family of commands a file, loaded when one of them runs."""
