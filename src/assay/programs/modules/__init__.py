"""Find what programs import and the sandbox lacks, and install the distributions that bring it."""
