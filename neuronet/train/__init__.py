"""Training on bars: data, the loop, checkpoints, evaluation, prediction."""
