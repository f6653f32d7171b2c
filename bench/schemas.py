"""The form that everybody builds."""

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
TEN_FIELDS = {
    "type": "object",
    "properties": {
        "query": {**_TEXT, "description": "What to look for."},
        "path": {**_TEXT, "description": "Where to start.", "default": "."},
        "limit": {**_NUMBER, "description": "How many.", "default": 20},
        "offset": {**_NUMBER, "description": "How many to leave out.", "minimum": 0},
        "score": {"type": "number", "description": "How good at least."},
        "deep": {"type": "boolean", "description": "Go down.", "default": False},
        "sort": {
            **_TEXT,
            "enum": ["name", "size", "date"],
            "description": "In which order.",
        },
        "labels": {"type": "array", "items": _TEXT, "description": "All of them."},
        "since": {**_TEXT, "format": "date", "description": "From this day on."},
        "note": {**_TEXT, "maxLength": 500, "description": "For the log."},
    },
    "required": ["query", "limit", "sort"],
}
