"""The exceptions of toolbench for wrong use, for models and servers, and for missing packages.

    ToolbenchError
    ├── ArgumentsError        the arguments of a call do not fit the tool's schema
    ├── BodyError             the text of a call is not valid JSON, YAML or Python
    ├── CaseError             a case of an evaluation, or a file of cases, cannot be used
    ├── ConsentError          the user did not agree to many calls, or to a file's servers
    ├── ExportError           a tool cannot be written as a package or a module
    ├── FileError             a file that the user named has other content, or cannot be written
    ├── FilterError           a filter names a key that the rows do not have
    ├── KindError             no class, or more than one, has the requested `kind`
    ├── MissingExtraError     the feature needs a package that is not installed
    ├── ModelError            a model gave no answer
    │   ├── ModelConnectionError   ... its host could not be reached, or the connection broke
    │   ├── ModelDriftError        ... the recording has no answer to this request
    │   ├── ModelScriptError       ... the model's script has no more answers
    │   └── ModelStoppedError      ... the request was stopped
    ├── RegistrationError     the registry got an object that is not a tool
    ├── SchemaError           a JSON Schema cannot be used
    ├── SecretError           a secret of a tool has no value, so the tool was not run
    ├── ServerError           an MCP server could not be reached
    ├── ToolFailedError       a magic ran a tool and it failed; holds the observation
    │   └── ToolStoppedError  ... because it was refused or stopped
    └── ToolNotFoundError     no tool, or no server, has the requested name

Each class is also a subclass of the Python error with the same meaning: `except ValueError` catches
wrong arguments and unknown kinds, `except KeyError` catches unknown tools. Code for the reference
SDK expects this.

A tool that ran and *failed* raises nothing: it returns an Observation with `is_error=True`.
Only a magic turns this observation into an error, to mark its cell as failed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Self

from toolbench.install_commands import how_to_install_extra

Path = tuple[str | int, ...]
"""The path from a value to a part of it: names of properties and positions in lists."""


@dataclass(frozen=True)
class Problem:
    """One reason why a value is not valid, with the path of the invalid part.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.errors import Path, Problem
        >>> @tool
        ... def order(items: list[dict[str, int]]) -> str:
        ...     "Order items by their numbers."
        ...     return "ordered"
        >>> [problem] = order.problems({"items": [{"sku": 1}, {"sku": "two"}]})
        >>> problem.where, problem.place
        ('items[1].sku', 'items, item 2, sku')
        >>> print(problem)
        items[1].sku: should be an integer, not "two"
        >>> path: Path = problem.path
    """

    path: Path
    message: str

    @property
    def where(self) -> str:
        """`path` in Python's notation: `items[2].name`. It is empty if the whole value is wrong."""
        where = ""
        for step in self.path:
            if isinstance(step, int):
                where += f"[{step}]"
            else:
                where += f".{step}"
        return where.removeprefix(".")

    @property
    def place(self) -> str:
        """`path` as a form shows it, with items counted from 1: `orders, item 3, buyer.name`."""
        place, after_name = "", False
        for step in self.path:
            if isinstance(step, int):
                place += f", item {step + 1}"
            elif after_name:
                place += f".{step}"
            else:
                place += f", {step}"
            after_name = not isinstance(step, int)
        return place.removeprefix(", ")

    def __str__(self) -> str:
        if not self.path:
            return self.message
        return f"{self.where}: {self.message}"


class ToolbenchError(Exception):
    """The base class of all errors of toolbench.

    Examples:
        >>> from toolbench import ToolbenchError, run_tool
        >>> try:
        ...     run_tool("splt_bill", total=84)
        ... except ToolbenchError as error:
        ...     print(type(error).__name__, error)
        ToolNotFoundError No tool is registered as 'splt_bill'. Registered: none.
    """

    def _render_traceback_(self) -> list[str]:
        """Return only the message for IPython to show, because a traceback would not help."""
        return [f"{type(self).__name__}: {self}"]


# Problems that a message lists
_LISTED = 20


class ArgumentsError(ToolbenchError, ValueError):
    """The arguments of a call do not fit the tool's schema; `problems` lists the reasons.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.errors import ArgumentsError
        >>> @tool
        ... def roll(sides: int, times: int = 1) -> int:
        ...     "Roll a die."
        ...     return sides
        >>> try:
        ...     roll(sides="six", times=0.5)
        ... except ArgumentsError as error:
        ...     print(error)
        roll: 2 arguments do not fit:
        - sides: should be an integer, not "six"
        - times: should be an integer, not 0.5
    """

    def __init__(self, tool: str, problems: Sequence[Problem]) -> None:
        """Make an error about a call of *tool*, with all *problems* of the arguments."""
        self.tool = tool
        self.problems = tuple(problems)
        super().__init__(str(self))

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.tool}: {self.problems[0]}"
        lines = "".join(f"\n- {problem}" for problem in self.problems[:_LISTED])
        if len(self.problems) > _LISTED:
            lines += f"\n- and {len(self.problems) - _LISTED:,} more"
        # Of a value that fits no alternative of a union, there is a problem for each
        count = len({problem.path[:1] for problem in self.problems})
        if count == 1:
            return f"{self.tool}: 1 argument does not fit:{lines}"
        return f"{self.tool}: {count} arguments do not fit:{lines}"

    # For executors that work in other processes
    def __reduce__(self) -> Any:
        return type(self), (self.tool, self.problems)


class BodyError(ToolbenchError, ValueError):
    """A call could not be read: its text is not valid JSON, YAML or Python.

    Examples:
        >>> from toolbench.errors import BodyError
        >>> from toolbench.llm import parse_tool_calls
        >>> try:
        ...     parse_tool_calls("roll a die, please", [])
        ... except BodyError as error:
        ...     print(error)
        The message is not JSON: Expecting value at character 1.
    """


class CaseError(ToolbenchError, ValueError):
    """A case of an evaluation, a file of cases, or the input of a sweep cannot be used.

    Examples:
        >>> from toolbench.errors import CaseError
        >>> from toolbench.evals import Cases
        >>> try:
        ...     Cases.read("cases.yaml")
        ... except CaseError as error:
        ...     print(error)
        cases.yaml cannot be read: No such file or directory.
    """


class ConsentError(ToolbenchError, PermissionError):
    """The user did not approve a group of calls, or connections to the servers in a file.

    No tool was called, and no server was connected.

    Examples:
        >>> from toolbench import answering, tool
        >>> from toolbench.errors import ConsentError
        >>> from toolbench.evals import sweep
        >>> @tool(destructive=True)
        ... def delete(id: int) -> str:
        ...     "Delete a row."
        ...     return "deleted"
        >>> try:
        ...     with answering(False):
        ...         sweep(delete, {"id": range(3)})
        ... except ConsentError as error:
        ...     print(str(error).partition(":")[0])
        None of 3 calls of delete was run
    """


class ExportError(ToolbenchError, ValueError):
    """A tool, or the tools of a server, cannot be exported as code; the message says why.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.errors import ExportError
        >>> from toolbench.export import export_package
        >>> length = tool(len, name="length", description="Return the length of a text.")
        >>> try:
        ...     export_package(length, "length")
        ... except ExportError as error:
        ...     print(error)
        The source of builtins cannot be read: <module 'builtins' (built-in)> is a built-in module.
    """


class FileError(ToolbenchError, OSError):
    """A file cannot be written, or it already has other content, which would be lost.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.errors import FileError
        >>> from toolbench.evals import Case, Cases
        >>> length = Path("cases.yaml").write_text("my notes")
        >>> try:
        ...     Cases([Case("Hello")]).write("cases.yaml")
        ... except FileError as error:
        ...     print(str(error).partition(":")[0])
        'cases.yaml' already has other content
    """


class FilterError(ToolbenchError, ValueError):
    """A table is filtered by a key that its rows do not have, such as `tol` in `tol:stock`.

    Examples:
        >>> from toolbench import history
        >>> from toolbench.errors import FilterError
        >>> try:
        ...     history().timeline().of("tol:stock")
        ... except FilterError as error:
        ...     print(str(error).partition(" Keys")[0])
        No key is called 'tol'. Did you mean 'tool'?
    """


class KindError(ToolbenchError, ValueError, LookupError):
    """The `kind` in saved data does not name exactly one class.

    Either no class has this name, or several classes have it. The error is also a ValueError, which
    is what the OpenHands SDK raises in this case.

    Examples:
        >>> from toolbench import Action
        >>> from toolbench.errors import KindError
        >>> try:
        ...     Action.from_dict({"kind": "BookRoom", "beds": 2})
        ... except KindError as error:
        ...     print(error)
        No schema of kind 'BookRoom'.
    """


class ModelError(ToolbenchError, RuntimeError):
    """A model gave no answer. The conversation is unchanged and can continue.

    Examples:
        >>> from toolbench.errors import ModelError
        >>> from toolbench.llm import RecordedModel
        >>> try:
        ...     RecordedModel("answers.jsonl")
        ... except ModelError as error:
        ...     print(error)
        answers.jsonl is not there: give an inner model to record it.
    """

    status: int | None = None
    """The HTTP status with which the provider refused the request; None if it did not refuse."""
    answer: Any = None
    """The part of the answer that arrived before an error, an `Answer`; None if nothing arrived."""


class ModelConnectionError(ModelError, ConnectionError):
    """The host of a model could not be reached, or the connection broke.

    Examples:
        >>> from toolbench.errors import ModelConnectionError
        >>> from toolbench.llm import as_model, user_message
        >>> try:
        ...     as_model("http://localhost:9/v1#qwen3").complete([user_message("Hello")])
        ... except ModelConnectionError as error:
        ...     print(str(error).partition(" (")[0])
        http://localhost:9 could not be reached
    """

    def __new__(cls, *args: Any) -> Self:
        """Make the error without `RuntimeError.__new__`, which would refuse this class.

        tblib, with which dask pickles errors, calls `__new__` directly.
        """
        return ConnectionError.__new__(cls, *args)


class ModelDriftError(ModelError, LookupError):
    """A recorded model got a request that is not in its recording.

    The message compares the request with the most similar request in the recording. It also lists
    the last messages, or the tool descriptions, of a few other recorded requests.

    Examples:
        >>> from toolbench.errors import ModelDriftError
        >>> from toolbench.llm import RecordedModel, ScriptedModel, user_message
        >>> recorder = RecordedModel("answers.jsonl", ScriptedModel(["Four."]))
        >>> answer = recorder.complete([user_message("Two and two?")])
        >>> try:
        ...     RecordedModel("answers.jsonl").complete([user_message("Two and three?")])
        ... except ModelDriftError as error:
        ...     print(str(error).splitlines()[-1])
        Recorded last messages, the nearest first: "Two and two?"
    """


class ModelScriptError(ModelError, LookupError):
    """A scripted model got more requests than its script has answers.

    Examples:
        >>> from toolbench.errors import ModelScriptError
        >>> from toolbench.llm import ScriptedModel, user_message
        >>> try:
        ...     ScriptedModel([]).complete([user_message("Hello")])
        ... except ModelScriptError as error:
        ...     print(str(error).partition(":")[0])
        The script of this ScriptedModel is over
    """


class ModelStoppedError(ModelError):
    """A request to a model was stopped.

    Examples:
        >>> from toolbench.errors import ModelStoppedError
        >>> from toolbench.llm import CancelToken, ScriptedModel, user_message
        >>> token = CancelToken()
        >>> token.cancel("the user pressed Stop")
        >>> try:
        ...     ScriptedModel(["Hi"]).complete([user_message("Hello")], cancel=token)
        ... except ModelStoppedError as error:
        ...     print(error)
        The request to scripted was stopped.
    """

    after: str = ""
    """What still runs although the request was stopped, as the end of a sentence; usually empty."""


class RegistrationError(ToolbenchError, ValueError):
    """An object cannot be registered, or no tool can be made from it.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.errors import RegistrationError
        >>> try:
        ...     @tool
        ...     def log(*lines):
        ...         "Write lines into the log."
        ... except RegistrationError as error:
        ...     print(error)
        log: a model sends arguments by name, so *lines gets none: make it a named parameter.
    """


class SchemaError(ToolbenchError, ValueError):
    """A JSON Schema cannot be used, for example because it is not valid or too large.

    Examples:
        >>> from toolbench import Schema
        >>> from toolbench.errors import SchemaError
        >>> try:
        ...     Schema.from_mcp_schema("Book", {"type": "objekt"})
        ... except SchemaError as error:
        ...     print(str(error).partition(":")[0])
        The JSON Schema is not valid at type
    """


class SecretError(ToolbenchError, LookupError):
    """A secret that a tool needs has no value; the message says where to set it.

    Examples:
        >>> from toolbench import secret, tool
        >>> from toolbench.errors import SecretError
        >>> @tool
        ... def search(query: str, token: str = secret("TRACKER_TOKEN")) -> str:
        ...     "Search the tracker."
        ...     return "found"
        >>> try:
        ...     search(query="open issues")
        ... except SecretError as error:
        ...     print(error)
        The secret TRACKER_TOKEN is missing. Set the environment variable TRACKER_TOKEN.
    """


class ServerError(ToolbenchError, ConnectionError):
    """An MCP server could not be reached, or it refused the request.

    Examples:
        >>> from toolbench.errors import ServerError
        >>> from toolbench.mcp import create_mcp_tools
        >>> try:
        ...     create_mcp_tools({"mcpServers": {"library": {"command": "no-such-program"}}})
        ... except ServerError as error:
        ...     print(str(error).partition(". ")[0])
        Server 'library' did not connect: command not found: 'no-such-program'
    """


class ToolFailedError(ToolbenchError, RuntimeError):
    """A magic ran a tool, and the tool failed; `observation` is the tool's result.

    Examples:
        >>> from IPython.core.interactiveshell import InteractiveShell
        >>> from toolbench import register_tool, tool
        >>> from toolbench.errors import ToolFailedError
        >>> @tool
        ... def capital(country: str) -> str:
        ...     "Return the capital of a country."
        ...     return {"France": "Paris", "Norway": "Oslo"}[country]
        >>> register_tool("capital", capital)
        >>> shell = InteractiveShell.instance()
        >>> shell.run_line_magic("load_ext", "toolbench")
        >>> try:
        ...     shell.run_line_magic("tool", "capital country=Atlantis")
        ... except ToolFailedError as error:
        ...     error.observation.text
        "KeyError: 'Atlantis'"
    """

    def __init__(self, tool: str, observation: Any, place: str = "") -> None:
        """Make an error whose message is the text of a failed result.

        Args:
            tool: The name of the tool.
            observation: The result of the tool.
            place: The line of code that failed, such as `In[12], line 7, in add_job`; empty if it
                is not known.
        """
        self.tool = tool
        self.observation = observation
        self.place = place
        text = observation.text.strip()
        if not text.startswith(tool):
            text = f"{tool}: {text}"
        if place:
            text += f" ({place})"
        asides = "".join(f"\n{aside}" for aside in getattr(observation, "_asides", ()))
        super().__init__((getattr(observation, "for_person", "") or text) + asides)

    # As above
    def __reduce__(self) -> Any:
        return type(self), (self.tool, self.observation, self.place)


class ToolStoppedError(ToolFailedError):
    """A magic called a tool, but the user or the policy refused the call, or the run was stopped.

    Examples:
        >>> from IPython.core.interactiveshell import InteractiveShell
        >>> from toolbench import policy, register_tool, tool
        >>> from toolbench.errors import ToolStoppedError
        >>> @tool
        ... def drop_table(name: str) -> str:
        ...     "Drop a table."
        ...     return "dropped"
        >>> register_tool("drop_table", drop_table)
        >>> policy.deny(drop_table)
        >>> shell = InteractiveShell.instance()
        >>> shell.run_line_magic("load_ext", "toolbench")
        >>> try:
        ...     shell.run_line_magic("tool", "drop_table name=users")
        ... except ToolStoppedError as error:
        ...     print(error)
        drop_table was not run: denied, because the policy names drop_table.
    """


class ToolNotFoundError(ToolbenchError, KeyError):
    """No tool or server has the requested name.

    The error is also a KeyError, which is what the OpenHands SDK raises in this case.

    Examples:
        >>> from toolbench import register_tool, run_tool, tool
        >>> from toolbench.errors import ToolNotFoundError
        >>> @tool
        ... def weather(city: str) -> str:
        ...     "The weather in a city."
        ...     return "sunny"
        >>> register_tool("weather", weather)
        >>> try:
        ...     run_tool("wether", city="Oslo")
        ... except ToolNotFoundError as error:
        ...     print(error)
        No tool is registered as 'wether'. Did you mean 'weather'?
    """

    def __str__(self) -> str:
        # A KeyError shows its text in quotes
        return Exception.__str__(self)


_EXTRAS = {
    "local": "Models on this machine need llama.cpp.",
    "demo": "Servers defined in a notebook need FastMCP's server half.",
    "pandas": "DataFrames need pandas.",
    "serve": "Serving tools needs FastMCP's server half.",
}


class MissingExtraError(ToolbenchError, ImportError):
    """A feature needs packages that are not installed.

    Examples:
        >>> from toolbench.errors import MissingExtraError
        >>> error = MissingExtraError("serve")
        >>> isinstance(error, ImportError), str(error).partition(".")[0]
        (True, "Serving tools needs FastMCP's server half")
    """

    def __init__(self, extra: str) -> None:
        """Make an error that says how to install *extra*, an optional part of toolbench."""
        self.extra = extra
        super().__init__(f"{_EXTRAS[extra]} {how_to_install_extra(extra)}")

    # As above
    def __reduce__(self) -> Any:
        return type(self), (self.extra,)


# Names that a misspelt one is compared with
_MOST_COMPARED = 1_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x' or 'y'?"` with the names of *known* that are similar to *name*.

    The result is empty if no name is similar. Only the first thousand names are compared, because a
    server may list any number of tools.
    """
    looked_at = list(islice(known, _MOST_COMPARED))
    near = [repr(match) for match in get_close_matches(name, looked_at, n=3)]
    if not near:
        return ""
    return f" Did you mean {' or '.join(near)}?"


def ended(sentence: str) -> str:
    """Return *sentence* with a full stop added, unless it already ends with a punctuation mark."""
    if sentence.endswith((".", "?", "!", "…")):
        return sentence
    return f"{sentence}."


def indefinite(noun: str) -> str:
    """Return *noun* with its indefinite article: `an int`, `a str`."""
    if noun.lower().startswith(("a", "e", "i", "o")):
        return f"an {noun}"
    return f"a {noun}"
