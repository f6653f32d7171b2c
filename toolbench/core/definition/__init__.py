"""What a tool definition says of itself: hints, schemas to export, its JSON, its views."""
