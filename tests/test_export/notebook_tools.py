"""Tools as people write them in cells: each with its cells, and calls that were made of it."""

from typing import NamedTuple


class NotebookTool(NamedTuple):
    """A tool of a notebook: the variable that holds it, its cells, and arguments it was called with."""

    variable: str
    cells: tuple[str, ...]
    calls: tuple[dict, ...] = ()
    taken: tuple[int, ...] = ()
    """The places of the cells that are named in the export."""
    sdk: bool = True
    """Whether it can be exported for the OpenHands SDK too."""


_CLASSES = """
from collections.abc import Sequence
from pydantic import Field
from toolbench import Action, Observation, TextContent, ToolAnnotations, ToolDefinition, ToolExecutor
"""

TOOLS = [
    NotebookTool(
        "split_bill",
        (
            "from toolbench import tool",
            '@tool\ndef split_bill(total: float, people: int = 2) -> float:\n    """Split a bill.\n\n'
            '    Args:\n        total: What was paid.\n        people: How many share it.\n    """\n'
            "    return round(total / people, 2)",
        ),
        ({"total": 84.0, "people": 4}, {"total": 10.0}, {"total": 1.0, "people": 0}),
    ),
    NotebookTool(
        "to_euros",
        (
            "import math\nfrom toolbench import tool\nRATE = 1.5",
            "RATE = 0.5",
            "def rounded(x):\n    return math.floor(x * 100) / 100",
            "@tool(read_only=True, title='Euros')\ndef to_euros(dollars: float) -> str:\n"
            "    '''Change dollars.'''\n    return f'{rounded(dollars * RATE)} EUR'",
        ),
        ({"dollars": 3.0},),
    ),
    NotebookTool(
        "weekday",
        (
            "from datetime import date\nimport toolbench",
            "NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']",
            "@toolbench.tool(read_only=True)\ndef weekday(day: date) -> str:\n    '''Say which day it is.'''\n"
            "    return NAMES[day.weekday()]",
        ),
        ({"day": "2026-11-23"},),
    ),
    NotebookTool(
        "colour",
        (
            "from enum import Enum\nfrom toolbench import tool",
            "class Colour(Enum):\n    RED = 'red'\n    BLUE = 'blue'\n",
            "@tool(read_only=True)\ndef colour(which: Colour = Colour.RED) -> str:\n    '''Paint.'''\n"
            "    return which.name.lower()",
        ),
        ({"which": "blue"}, {}),
    ),
    NotebookTool(
        "order",
        (
            "from pydantic import BaseModel, Field\nfrom toolbench import tool",
            "class Dish(BaseModel):\n    '''Something to eat.'''\n    name: str\n"
            "    count: int = Field(1, ge=1, le=9)\n",
            "@tool\ndef order(dishes: list[Dish], note: str | None = None) -> dict:\n"
            "    '''Order dishes.'''\n"
            "    return {'count': sum(d.count for d in dishes), 'note': note}",
        ),
        ({"dishes": [{"name": "soup"}, {"name": "bread", "count": 2}]},),
    ),
    NotebookTool(
        "limits",
        (
            "from typing import Annotated, Literal\nfrom pydantic import Field\n"
            "from toolbench import tool",
            "@tool(read_only=True)\ndef limits(n: Annotated[int, Field(ge=1, le=5, description='A number.')],\n"
            "           mode: Literal['up', 'down'] = 'up', # which way\n           ) -> int:\n"
            "    '''Count.'''\n    return n + 1 if mode == 'up' else n - 1",
        ),
        ({"n": 3}, {"n": 3, "mode": "down"}, {"n": 9}),
    ),
    NotebookTool(
        "implicit_none",
        (
            "from toolbench import tool\n\n@tool(read_only=True)\n"
            "def implicit_none(a, b: int = None, *, c: list[str] = []) -> str:\n"
            "    '''Take what comes.'''\n    return f'{a} {b} {c}'",
        ),
        ({"a": {"x": 1}}, {"a": 1, "b": 2, "c": ["z"]}),
    ),
    NotebookTool(
        "positional",
        (
            "from toolbench import tool\n\n@tool(read_only=True)\ndef positional(a: int, /, b: int) -> int:\n"
            "    '''Subtract.'''\n    return a - b",
        ),
        ({"a": 5, "b": 3},),
    ),
    NotebookTool(
        "odd_names",
        (
            "from toolbench import tool\n\n@tool(read_only=True)\n"
            "def odd_names(model_config: str, copy: int = 1, schema: bool = True) -> str:\n"
            "    '''Names that classes have.'''\n    return f'{model_config} {copy} {schema}'",
        ),
        ({"model_config": "x"}, {"model_config": "x", "copy": 2, "schema": False}),
    ),
    NotebookTool(
        "open_ended",
        (
            "from toolbench import tool\n\n@tool(read_only=True)\ndef open_ended(first: int, **rest: int) -> int:\n"
            "    '''Add them all.'''\n    return first + sum(rest.values())",
        ),
        ({"first": 1, "x": 2, "y": 3},),
    ),
    NotebookTool(
        "fetch_later",
        (
            "import asyncio\nfrom toolbench import tool",
            "async def later(x):\n    await asyncio.sleep(0)\n    return x * 2",
            "@tool(read_only=True)\nasync def fetch_later(x: int) -> int:\n    '''Double, after a while.'''\n"
            "    return await later(x)",
        ),
        ({"x": 21},),
    ),
    NotebookTool(
        "countdown",
        (
            "from toolbench import tool\n\n@tool(read_only=True)\ndef countdown(start: int):\n    '''Count down.'''\n"
            "    while start:\n        yield start\n        start -= 1",
        ),
        ({"start": 3},),
    ),
    NotebookTool(
        "ticks",
        (
            "from toolbench import tool\n\n@tool(read_only=True)\nasync def ticks(n: int):\n    '''Tick.'''\n"
            "    for i in range(n):\n        yield f'tick {i}'",
        ),
        ({"n": 2},),
    ),
    NotebookTool(
        "where_am_i",
        (
            "from toolbench import tool\n\n@tool\n"
            "def where_am_i(conversation=None) -> str:\n    '''Say it.'''\n"
            "    return 'alone' if conversation is None else 'in company'",
        ),
        ({},),
    ),
    NotebookTool(
        "vocabulary",
        (
            "from toolbench import tool\nWORDS = {}",
            "WORDS['one'] = 1\nWORDS.update(two=2)",
            "for word, number in [('three', 3)]:\n    WORDS[word] = number",
            "@tool(read_only=True)\ndef vocabulary(word: str) -> int | None:\n    '''Look a word up.'''\n"
            "    return WORDS.get(word)",
        ),
        ({"word": "two"}, {"word": "three"}, {"word": "nine"}),
        taken=(1,),
    ),
    NotebookTool(
        "dispatch",
        (
            "from functools import singledispatch\nfrom toolbench import tool",
            "@singledispatch\ndef shown(x):\n    return f'<{x}>'",
            "@shown.register\ndef _(x: int):\n    return f'#{x}'",
            "@tool(read_only=True)\ndef dispatch(n: int, text: str) -> str:\n    '''Show both.'''\n"
            "    return shown(n) + shown(text)",
        ),
        ({"n": 1, "text": "a"},),
    ),
    NotebookTool(
        "remembered",
        (
            "from functools import lru_cache\nfrom toolbench import tool",
            "@tool(read_only=True)\n@lru_cache\ndef remembered(n: int) -> int:\n    '''Square it once.'''\n"
            "    return n * n",
        ),
        ({"n": 7},),
    ),
    NotebookTool(
        "dataclass_result",
        (
            "from dataclasses import dataclass\nfrom toolbench import tool",
            "@dataclass\nclass Point:\n    x: int\n    y: int\n\n    def mirrored(self) -> 'Point':\n"
            "        return Point(self.y, self.x)",
            "@tool(read_only=True)\ndef dataclass_result(x: int, y: int) -> 'Point':\n    '''Mirror a point.'''\n"
            "    return Point(x, y).mirrored()",
        ),
        ({"x": 1, "y": 2},),
    ),
    NotebookTool(
        "own_observation",
        (
            _CLASSES + "from toolbench import tool",
            "class Weather(Observation):\n    degrees: int = Field(description='Celsius')\n\n"
            "    @property\n    def to_llm_content(self) -> Sequence[TextContent]:\n"
            "        return [TextContent(text=f'{self.degrees} degrees')]",
            "@tool(read_only=True)\ndef own_observation(city: str) -> Weather:\n    '''The weather.'''\n"
            "    return Weather.from_text(f'{len(city)} C', degrees=len(city))",
        ),
        ({"city": "Rome"},),
    ),
    NotebookTool(
        "aliased",
        (
            "from toolbench import tool as agent_tool\nimport xml.etree.ElementTree as ET\nimport os.path",
            "@agent_tool(name='root-tag')\ndef aliased(xml: str) -> str:\n    '''The tag.'''\n"
            "    return os.path.join(ET.fromstring(xml).tag, 'x')",
        ),
        ({"xml": "<a/>"},),
    ),
    NotebookTool(
        "starred",
        (
            "from math import *\nfrom toolbench import tool; SCALE = 10; UNUSED = open",
            "@tool(read_only=True)\ndef starred(x: float) -> float:\n    '''A root.'''\n"
            "    return floor(sqrt(x) * SCALE)",
        ),
        ({"x": 2.0},),
    ),
    NotebookTool(
        "timed",
        (
            "from toolbench import tool",
            "%%time\nBASE = 5",
            "@tool(read_only=True)\ndef timed(n: int) -> int:\n    '''Add the base.'''\n    return n + BASE",
        ),
        ({"n": 1},),
    ),
    NotebookTool(
        "conditional",
        (
            "import sys\nfrom toolbench import tool",
            "try:\n    import nothing_of_that_name as fast\nexcept ImportError:\n    fast = None",
            "if sys.version_info >= (3,):\n    LIMIT = 3\nelse:\n    LIMIT = 0",
            "with open('/dev/null') as empty:\n    HEAD = empty.read()",
            "@tool(read_only=True)\ndef conditional(n: int) -> str:\n    '''Compare.'''\n"
            "    return f'{n < LIMIT} {fast} {HEAD!r}'",
        ),
        ({"n": 1},),
    ),
    NotebookTool(
        "made_by_call",
        (
            "from toolbench import tool",
            "def triple(n: int) -> int:\n    '''Three times.'''\n    return 3 * n",
            "made_by_call = tool(name='triple it')(triple)",
        ),
        ({"n": 4},),
    ),
    NotebookTool(
        "counter",
        (
            "from toolbench import tool\nSTEP = 2",
            "class Counter:\n    def __init__(self, start):\n        self.value = start\n\n"
            "    def forward(self, by):\n        self.value += by * STEP\n        return self.value",
            "current = Counter(10)",
            "@tool\ndef counter(by: int) -> int:\n    '''Count on.'''\n    return current.forward(by) * 0 + by",
        ),
        ({"by": 1}, {"by": 1}),
    ),
    NotebookTool(
        "needs_package",
        (
            "import yaml\nfrom toolbench import tool",
            "@tool(read_only=True)\ndef needs_package(text: str) -> dict:\n    '''Read YAML.'''\n"
            "    import regex\n    return yaml.safe_load(regex.sub('x', 'y', text))",
        ),
        ({"text": "a: x"},),
    ),
    NotebookTool(
        "unicode_text",
        (
            "from toolbench import tool\nGREETING = 'Grüß \"Gott\" \\\\ '",
            "@tool(read_only=True)\ndef unicode_text(name: str = 'Ωmega \"quoted\"') -> str:\n"
            "    '''Say \\\\n \"hello\".\n\n    In two lines, é.'''\n    return GREETING + name",
        ),
        ({}, {"name": "日本"}),
    ),
    NotebookTool(
        "hostile_texts",
        (
            "from toolbench import tool\n\n"
            '@tool(name=\'definition\', description=\'ends with \\\\ and """\\n"quotes"\')\n'
            "def hostile_texts(x: str = '_this_package_') -> str:\n    return x",
        ),
        ({}, {"x": "{package} {imports}"}),
    ),
    NotebookTool(
        "nothing",
        ("from toolbench import tool\n\n@tool\ndef nothing():\n    '''Do nothing.'''",),
        ({},),
    ),
    NotebookTool(
        "double",
        (
            _CLASSES,
            "class Number(Action):\n    '''A number.'''\n    n: int = Field(ge=0)",
            "FACTOR = 2",
            "class Double(ToolExecutor):\n    def __call__(self, action, conversation=None):\n"
            "        return Observation.from_text(str(FACTOR * action.n))",
            "double = ToolDefinition(name='double', description='Double it.', action_type=Number,\n"
            "    executor=Double(), annotations=ToolAnnotations(readOnlyHint=True))",
        ),
        ({"n": 2}, {"n": 0}),
    ),
    NotebookTool(
        "with_function",
        (
            _CLASSES,
            "class Text(Action):\n    text: str\nclass Length(Observation):\n    length: int\n",
            "def measure(action):\n    return Length(length=len(action.text))",
            "tools = [ToolDefinition(name='with_function', description='Measure.',\n"
            "    action_type=Text, observation_type=Length, executor=measure, meta={'version': '2'})]\n"
            "with_function = tools[0]",
        ),
        ({"text": "abc"},),
    ),
    NotebookTool(
        "with_lambda",
        (
            _CLASSES,
            "class Word(Action):\n    word: str",
            "with_lambda = ToolDefinition(name='with_lambda', description='Shout.',\n"
            "    action_type=Word, executor=lambda action: action.word.upper())",
        ),
        ({"word": "abc"},),
    ),
    NotebookTool(
        "search",
        (
            _CLASSES + "from typing import Any\nimport re",
            "class SearchAction(Action):\n    pattern: str = Field(description='A regex.')",
            "class SearchObservation(Observation):\n    matches: list[str] = Field(default_factory=list)\n"
            "\n    @property\n    def to_llm_content(self):\n        return [TextContent(text=joined(self.matches))]",
            "def joined(parts):\n    return ', '.join(parts)",
            "def searched(pattern, text):\n    return re.findall(pattern, text)",
            "class SearchExecutor(ToolExecutor[SearchAction, SearchObservation]):\n"
            "    def __init__(self, text):\n        self.text = text\n\n"
            "    def __call__(self, action, conversation=None):\n"
            "        return SearchObservation(matches=searched(action.pattern, self.text))",
            "class SearchTool(ToolDefinition[SearchAction, SearchObservation]):\n"
            "    '''Searches a text.'''\n\n    @classmethod\n"
            "    def create(cls, conv_state: Any = None, text: str = '') -> Sequence['SearchTool']:\n"
            "        '''Make it.'''\n"
            "        return [cls(description='Searches.', action_type=SearchAction,\n"
            "            observation_type=SearchObservation, executor=SearchExecutor(text or DEFAULT))]",
            "DEFAULT = 'tea for two'",
            "[search] = SearchTool.create(text='three trees')",
        ),
        ({"pattern": "t.."}, {"pattern": "x"}),
    ),
    NotebookTool(
        "create_without_arguments",
        (
            _CLASSES,
            "class EchoAction(Action):\n    text: str",
            "class EchoTool(ToolDefinition[EchoAction, Observation]):\n    name = 'create_without_arguments'\n"
            "    @classmethod\n    def create(cls, conv_state=None, **params):\n"
            "        return [cls(description='Echo.', action_type=EchoAction, executor=Echo())]",
            "class Echo(ToolExecutor):\n    def __call__(self, action, conversation=None):\n"
            "        return Observation.from_text(action.text)",
            "[create_without_arguments] = EchoTool.create()",
        ),
        ({"text": "hi"},),
    ),
    # last: it changes how the annotations of all later cells are read
    NotebookTool(
        "postponed",
        (
            "from __future__ import annotations\nfrom toolbench import tool",
            "class Later:\n    def me(self) -> Later:\n        return self",
            "@tool(read_only=True)\ndef postponed(n: list[int]) -> int:\n    '''Add.'''\n"
            "    Later().me()\n    return sum(n)",
        ),
        ({"n": [1, 2]},),
    ),
]
