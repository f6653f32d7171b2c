"""Tools and models of the tests of evals."""

import json
from random import Random

from toolbench import tool
from toolbench.llm.models import Answer, Usage


@tool(read_only=True)
def split_bill(total: float, people: int, tip: float = 0.0) -> float:
    """Split a restaurant bill between people; returns what each pays.

    Args:
        total: The sum of the bill.
        people: How many share it.
        tip: The tip, added before it is split.
    """
    return (total + tip) / people


@tool(read_only=True)
def get_weather(city: str) -> str:
    """Tell the weather of today in a city.

    Args:
        city: The name of the city.
    """
    return f"sun in {city}"


@tool(destructive=True)
def wipe(path: str) -> str:
    """Delete a file for ever.

    Args:
        path: The file.
    """
    return f"{path} is gone"


TOOLS = (split_bill, get_weather, wipe)


def message(*calls, text=None):
    """An OpenAI message of *calls*, pairs of a name and arguments."""
    sent = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": a if isinstance(a, str) else json.dumps(a),
            },
        }
        for n, (name, a) in enumerate(calls)
    ]
    reply = {"role": "assistant", "content": text}
    return reply | ({"tool_calls": sent} if sent else {"content": text or "Hello."})


def bill(**changed):
    """A call of split_bill."""
    return ("split_bill", {"total": 84, "people": 4, **changed})


class PlantedModel:
    """A model with known rates of errors, the same ones in every run.

    Args:
        wrong_tool: How often it takes another tool than the one that is asked for.
        wrong_value: How often it fills the right tool wrongly.
        failing: How often its network fails.
    """

    provider = "openai"

    def __init__(self, name="planted", *, wrong_tool=0.0, wrong_value=0.0, failing=0.0, seed=0):
        self.name = name
        self._rates = (failing, wrong_tool, wrong_value)
        self._random = Random(seed)

    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        failing, wrong_tool, wrong_value = self._rates
        draws = [self._random.random() for _ in range(3)]
        if draws[0] < failing:
            raise ConnectionError("the network is down")
        people = 5 if draws[2] < wrong_value else 4
        call = bill(people=people)
        if draws[1] < wrong_tool:
            call = ("get_weather", {"city": "Paris"})
        return Answer(message(call), "tool_calls", Usage(100, 10, 0.001))
