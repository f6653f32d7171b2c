"""Editors that hold other fields: objects, maps, lists and unions."""
