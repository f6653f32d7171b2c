"""What one tool becomes in a package: classes for its definition, an executor for its work."""
