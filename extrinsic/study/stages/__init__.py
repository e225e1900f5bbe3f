"""What a study computes: inputs, the stages that score and learn, and the store of their results."""
