"""Small tools that keep every rule, or break one."""

from test_llm.samples import foreign, taking

DESCRIPTION = "Look a thing up by its key and return its fields as JSON."


def tool_named(name, description=DESCRIPTION, **facts):
    """A tool without arguments."""
    return foreign({"type": "object"}, name, description=description, **facts)


def argument(schema, *, required=False, name="x"):
    """A tool with one argument."""
    tool = taking({name: schema}, *([name] if required else []))
    return tool.model_copy(update={"description": DESCRIPTION})


def text(description, **schema):
    """A string that is described."""
    return {"type": "string", "description": description, **schema}


def number(description, **schema):
    """An optional number that is described."""
    return {"type": "integer", "description": description, **schema}
