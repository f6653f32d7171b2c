import asyncio
import threading
from functools import partial, wraps
from unittest.mock import Mock

import pytest
from patience import PATIENCE

from toolbench import Action, Observation, ToolDefinition, ToolExecutor
from toolbench.core.executor import FunctionExecutor, with_conversation


class GoAction(Action):
    a: int = 1


class Plain:
    def __call__(self, action):
        return ("action", action)

    def both(self, action, conversation=None):
        return (action, conversation)

    @classmethod
    def of_class(cls, action, conversation):
        return (action, conversation)

    @staticmethod
    def static(action, conversation):
        return (action, conversation)


class ObjectExecutor:
    def __call__(self, action, conversation=None):
        return (action, conversation)


def keyword_only(action, *, conversation):
    return (action, conversation)


def anything(*args, **kwargs):
    return args


def keywords(action, **kwargs):
    return (action, kwargs["conversation"])


def third(action, timeout=30, conversation=None):
    return (action, conversation) if timeout == 30 else timeout


def by_another_name(action, _conv=None):
    return (action, _conv)


def positional(action, conversation, /):
    return (action, conversation)


@wraps(keyword_only)
def wrapped(*args, **kwargs):
    return keyword_only(*args, **kwargs)


TAKING = {
    "an object": ObjectExecutor(),
    "a method": Plain().both,
    "a class method": Plain.of_class,
    "a static method": Plain.static,
    "keyword only": keyword_only,
    "*args": anything,
    "a mock": Mock(side_effect=lambda *args: args),
    "**kwargs": keywords,
    "not the second": third,
    "by another name": by_another_name,
    "positional only": positional,
    "wrapped": wrapped,
    "a partial": partial(lambda x, action, conversation: (action, conversation), 0),
    "a partial with a keyword": partial(third, timeout=30),
    "required": lambda action, conv: (action, conv),
}
NOT_TAKING = {
    "an object": (Plain(), ("action", "action")),
    "one argument": (lambda action: action, "action"),
    "an option": (lambda action, timeout=30: (action, timeout), ("action", 30)),
    "an option that begins alike": (
        lambda action, convert=True: (action, convert),
        ("action", True),
    ),
    "a keyword": (
        lambda action, *, verbose=False: (action, verbose),
        ("action", False),
    ),
    "bound already": (partial(keyword_only, conversation="mine"), ("action", "mine")),
    "a partial": (partial(lambda action, x: (action, x), x=1), ("action", 1)),
    "a builtin": (len, 6),
    "a builtin with *args": (print, None),
    "a type": (str, "action"),
}


class TestWithConversation:
    @pytest.mark.parametrize("how", TAKING)
    def test_gives_it_to_who_takes_it(self, how):
        """However the second parameter is written, the conversation arrives there."""
        call = with_conversation(TAKING[how])
        assert call("action", "conversation") == ("action", "conversation")

    @pytest.mark.parametrize("how", NOT_TAKING)
    def test_keeps_it_from_who_does_not(self, how, capsys):
        """A parameter that means something else is never given the conversation."""
        function, result = NOT_TAKING[how]
        assert with_conversation(function)("action", "conversation") == result
        assert "conversation" not in capsys.readouterr().out

    def test_tools_pass_it_on(self):
        """An executor sees the conversation the tool was called with, or None."""
        conversations = []
        tool = ToolDefinition(
            name="t",
            action_type=GoAction,
            executor=lambda a, conversation: conversations.append(conversation),
        )
        tool(GoAction())
        tool(GoAction(), "here")
        assert conversations == [None, "here"]


async def slowly(action, conversation=None):
    await asyncio.sleep(0)
    return f"{action.a} {conversation}"


class Slow(ToolExecutor[GoAction, Observation]):
    async def __call__(self, action, conversation=None):
        return await slowly(action, conversation)


@wraps(slowly)
def looks_plain(*args, **kwargs):
    return slowly(*args, **kwargs)


ASYNC = {
    "a function": slowly,
    "an object": Slow(),
    "wrapped": looks_plain,
    "a partial": partial(slowly),
    "a lambda": lambda action, conversation: slowly(action, conversation),
}


class TestAsync:
    @pytest.mark.parametrize("how", ASYNC)
    def test_executors_are_called_as_others(self, how):
        """A coroutine function works in a plain call, told to be one or not."""
        tool = ToolDefinition(name="t", action_type=GoAction, executor=ASYNC[how])
        assert tool({"a": 2}, "c").text == "2 c"

    @pytest.mark.parametrize("how", [*ASYNC, "not at all"])
    def test_any_executor_can_be_awaited(self, how):
        """`acall` does the same without blocking the loop it runs in."""
        executor = ASYNC.get(how, lambda action, conv: f"{action.a} {conv}")
        tool = ToolDefinition(name="t", action_type=GoAction, executor=executor)
        assert asyncio.run(tool.acall({"a": 2}, "c")).text == "2 c"

    def test_plain_executors_leave_the_loop_alone(self):
        """A blocking executor runs in a thread: the loop goes on meanwhile."""
        ready = threading.Event()
        tool = ToolDefinition(
            name="t", action_type=GoAction, executor=lambda action: str(ready.wait(PATIENCE))
        )

        async def both():
            running = asyncio.ensure_future(tool.acall({}))
            await asyncio.sleep(0)
            ready.set()
            return await running

        assert asyncio.run(both()).text == "True"

    def test_works_inside_a_running_loop(self):
        """A kernel's loop runs while a cell calls an async tool: that is no problem."""
        tool = ToolDefinition(name="t", action_type=GoAction, executor=slowly)

        async def cell():
            return tool({"a": 3}).text

        assert asyncio.run(cell()) == "3 None"


async def counting(action):
    for n in range(action.a):
        await asyncio.sleep(0)
        yield n


def counting_plainly(action):
    yield from range(action.a)


class Counting(ToolExecutor):
    async def __call__(self, action):
        async for n in counting(action):
            yield n


class TestGenerators:
    @pytest.mark.parametrize(
        "executor",
        [counting, counting_plainly, Counting(), partial(counting)],
        ids=["async", "plain", "class", "partial"],
    )
    def test_are_collected(self, executor):
        """What is yielded, one after the other, is the result, called or awaited."""
        tool = ToolDefinition(name="t", action_type=GoAction, executor=executor)
        assert tool({"a": 3}).result == [0, 1, 2]
        assert asyncio.run(tool.acall({"a": 2})).result == [0, 1]


class TestFunctions:
    def test_become_executors(self):
        """A tool always has an executor object; a function is wrapped."""
        tool = ToolDefinition(name="t", executor=keyword_only)
        assert isinstance(tool.executor, FunctionExecutor)
        assert repr(tool.executor) == "FunctionExecutor(keyword_only)"

    def test_objects_that_can_be_interrupted_stay_so(self):
        """`interrupt` reaches what was wrapped."""

        class Loop:
            interrupted = 0

            def __call__(self, action):
                return ""

            def interrupt(self):
                self.interrupted += 1

        loop = Loop()
        ToolDefinition(name="t", executor=loop).executor.interrupt()
        ToolDefinition(name="t", executor=print).executor.interrupt()
        assert loop.interrupted == 1

    def test_executors_are_abstract(self):
        """An executor that does nothing is none."""
        with pytest.raises(TypeError, match="abstract"):
            ToolExecutor()
