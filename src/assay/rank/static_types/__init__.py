"""Programs and the values that a task's text shows in, which programs surely have wrong types out."""
