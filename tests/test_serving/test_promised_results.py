"""What a function's return annotation promises: an output schema, and results that fit it."""

import asyncio
import typing
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from patience import eventually
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from test_serving.calling import Caller
from test_serving.clients import ERAS, call, talk
from toolbench import ImageContent, Observation, TextContent, tool
from toolbench.errors import ToolbenchError
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve


class Cat(BaseModel):
    """A cat."""

    name: str
    age: float | None = Field(None, description="In years.")


@dataclass
class Place:
    """A place."""

    row: int
    label: str = "a"


class Size(TypedDict):
    """A size."""

    width: int


class Weight(typing.TypedDict):
    """A weight, which pydantic refuses on Python 3.11."""

    kilos: int


class Tree(BaseModel):
    """A tree."""

    children: list["Tree"] = []


class Doubling:
    """Can be called, and, as it compares itself, has no hash."""

    def __call__(self, number: int) -> int:
        """Double a number."""
        return 2 * number

    def __eq__(self, other):
        return isinstance(other, Doubling)


TOM = Cat(name="Tom")
VALUES = {
    "models": (list[Cat], [TOM, Cat(name="Kit", age=2)]),
    "by_name": (dict[str, Cat], {"tom": TOM}),
    "typed_dict": (Size, {"width": 3}),
    "data_class": (Place, Place(1)),
    "maybe": (Cat | None, None),
    "maybe_there": (Cat | None, TOM),
    "either": (Cat | Place, Place(2)),
    "model": (Cat, TOM),
    "described": (Annotated[Cat, Field(description="Ours.")], TOM),
    "number": (int, 3),
    "numbers": (list[float], [1.5]),
    "pair": (tuple[int, str], (1, "a")),
    "mapping": (dict, {"a": [1]}),
    "recursive": (Tree, Tree(children=[Tree()])),
}
UNPROMISED = {
    "text": (str, "hello"),
    "nothing": (None, None),
    "anything": (Any, {"a": 1}),
    "an_object": (object, 3),
    "binary": (bytes, b"x"),
    "blocks": (list[ImageContent], []),
    "some_list": (list, [1]),
    "any_list": (list[Any], [1]),
    "a_block": (TextContent, TextContent(text="a")),
    "foreign": (Caller, 3),
}


def function(name, hint, value):
    """A function that is annotated to return *hint*, and returns *value*."""

    def constant():
        return value

    constant.__name__ = name
    constant.__annotations__ = {"return": hint}
    return constant


FUNCTIONS = [function(name, *pair) for name, pair in (VALUES | UNPROMISED).items()]
TOOLS = [tool(read_only=True, description="It.")(each) for each in FUNCTIONS]


@tool(read_only=True)
def wrong() -> list[Cat]:
    """Return something else."""
    return [{"name": "Tom", "age": "old"}]


@pytest.fixture(scope="module")
def served():
    with serve([*TOOLS, wrong], name="promised") as served:
        yield served


@pytest.fixture(scope="module")
def straight():
    """The same functions, served by FastMCP itself."""
    server = FastMCP("straight", dereference_schemas=False)
    for each in FUNCTIONS:
        if each.__name__ in VALUES:
            server.tool(each)

    async def ask():
        async with Client(server) as client:
            schemas = {one.name: one.output_schema for one in await client.list_tools()}
            results = {name: await client.call_tool(name) for name in VALUES}
            return schemas, results

    return asyncio.run(ask())


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


def test_schemas_are_those_of_fastmcp(served, straight, mode):
    """Word for word."""
    tools = talk(served, lambda client: client.list_tools(), mode)
    schemas = {one.name: one.output_schema for one in tools}
    assert {name: schemas[name] for name in VALUES} == straight[0]
    assert {name: schemas[name] for name in UNPROMISED} == dict.fromkeys(UNPROMISED)


@pytest.mark.parametrize("name", VALUES)
def test_results_are_those_of_fastmcp(served, straight, mode, name):
    """The structure, and what FastMCP's client makes of it."""
    result, expected = call(served, name, mode=mode), straight[1][name]
    assert not result.is_error
    assert result.structured_content == expected.structured_content
    assert repr(result.data) == repr(expected.data)


@pytest.mark.parametrize("name", UNPROMISED)
def test_what_promises_nothing_is_sent_as_before(served, mode, name):
    """As content; a dict has structure without a schema."""
    result = call(served, name, mode=mode)
    assert not result.is_error
    assert "result" not in (result.structured_content or {})


def test_a_result_that_does_not_fit_is_a_failure(served, mode):
    """The content is there, and what does not fit; a client would refuse it otherwise."""
    result = call(served, "wrong", mode=mode)
    assert result.is_error
    assert "Tom" in result.content[0].text
    assert "does not fit its output schema: result[0].age" in result.content[1].text


def test_a_typed_dict_of_typing_is_promised_or_warned_of(mode):
    """On Python 3.11 pydantic refuses it: then the person who serves it reads what to import."""
    weighed = tool(read_only=True, description="It.")(
        function("weighed", list[Weight], [{"kilos": 3}])
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with serve([weighed]) as served:
            [listed] = talk(served, lambda client: client.list_tools(), mode=mode)
    texts = [str(one.message) for one in told if "weighed" in str(one.message)]
    assert bool(listed.output_schema) != bool(texts)
    assert all("typing_extensions, not from typing" in text for text in texts)


def test_our_own_client_reads_it(served, mode):
    """Without a warning."""
    headers = {"Authorization": f"Bearer {served.token}"}
    entry = {"url": served.url, "headers": headers, "mode": mode}
    with create_mcp_tools({"mcpServers": {"own": entry}}) as client:
        observation = client["models"]({})
        assert not observation.warnings
        assert observation.data[1] == {"name": "Kit", "age": 2}


@pytest.mark.parametrize(
    "answer",
    [{"result": [{"name": "Ada"}]}, Observation.from_text("no", is_error=True)],
)
def test_an_answer_by_hand_fits_too(served, answer):
    """What does not fit is refused, and the call goes on waiting."""
    served.pause()
    caller = Caller(served, "models")
    eventually(lambda: served.calls and served.calls[-1].questions)
    with pytest.raises(ToolbenchError, match="does not fit it"):
        served.calls[-1].answer({"result": 3})
    served.calls[-1].answer(answer)
    served.resume()
    structured = caller.result().structured_content
    assert structured in (None, {"result": [{"name": "Ada"}]})


def test_an_object_without_a_hash_is_served(mode):
    """It promises what its `__call__` says."""
    double = tool(Doubling(), name="double")
    with serve([double], name="unhashable", require="never") as served:
        result = call(served, "double", {"number": 2}, mode)
        assert result.structured_content == {"result": 4}
