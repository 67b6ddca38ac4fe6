"""What is wrong with a ground truth: with its texts, its queries, its labels."""
