"""Editors that contain other fields: of objects, maps, lists and unions."""
