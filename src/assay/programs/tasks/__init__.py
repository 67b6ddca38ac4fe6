"""Read files of tasks in the common benchmark formats."""
