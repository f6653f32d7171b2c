"""Trials: a model answers a case once, and the answer is scored without another model."""
