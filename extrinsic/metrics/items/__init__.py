"""The items that metrics are computed on, of beliefs and of states, with schedules and label schemes."""
