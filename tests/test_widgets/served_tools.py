"""Tools of every kind that the panel of served calls has to show."""

from threading import Event

from patience import PATIENCE

from toolbench import Observation, current_run, tool

SIZE = {
    "type": "object",
    "properties": {"size": {"type": "integer", "description": "How large."}},
    "required": ["size"],
}


class Weight(Observation):
    """What a scale says."""

    grams: int


@tool(read_only=True)
def look(what: str) -> str:
    """Look at it."""
    return f"{what} is there"


@tool(read_only=True)
def chatty() -> str:
    """Print, and return."""
    print("<b>for the person</b>")
    return "for the agent"


@tool(destructive=True)
def erase(what: str) -> str:
    """Erase it."""
    return f"{what} is gone"


@tool(read_only=True)
def bake() -> str:
    """Bake a cake, of a size that is asked for."""
    answer = current_run().ask("How large?", SIZE)
    return f"{answer.action}: {answer['size']}" if answer else answer.action


@tool(read_only=True)
def weigh(what: str) -> Weight:
    """Weigh it."""
    return Weight(grams=len(what))


begun, go_on = Event(), Event()


@tool(read_only=True)
def verbose() -> str:
    """Print lines, and take long."""
    for number in range(20):
        print(f"<b>line {number}</b>")
    current_run().on_cancel(go_on.set)
    assert go_on.wait(PATIENCE)
    return "late"


@tool(read_only=True)
def slow() -> str:
    """Take long."""
    current_run().on_cancel(go_on.set)
    begun.set()
    assert go_on.wait(PATIENCE)
    return "late"
