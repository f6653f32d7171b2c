"""Tests of the model's side."""
