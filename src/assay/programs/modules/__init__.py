"""What programs import and the sandbox lacks: which distribution brings it, and how it is installed."""
