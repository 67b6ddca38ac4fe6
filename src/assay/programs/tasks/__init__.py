"""Files of tasks in every format of the field to values."""
