"""The command line: one module per family of commands, loaded when one of them runs."""
