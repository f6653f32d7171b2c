"""The parts of a tool definition: hints, exported schemas, its JSON, its views."""
