"""The restaurant world: diners who look for a place to eat, in the terms of DSTC2, and its expert."""
