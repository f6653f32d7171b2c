"""The classes of actions and observations: made from a JSON Schema, written as one, found by kind."""
