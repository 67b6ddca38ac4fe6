"""Find the modules that programs import and the sandbox lacks, and install their distributions."""
