"""Make classes of actions and observations from JSON Schemas, export and find the classes."""
