"""Read files of tasks in every format of the field."""
