"""What metrics are computed on: items of beliefs and of states, their schedules and label schemes."""
