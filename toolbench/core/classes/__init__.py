"""The classes of actions and observations: made from a JSON Schema, exported as one, found by kind."""
