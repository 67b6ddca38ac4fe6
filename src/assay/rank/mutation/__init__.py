"""Programs that are right in, the same programs and wrong ones made of them out."""
