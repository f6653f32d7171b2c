"""The exceptions of toolbench for wrong use, for models and servers, and for missing packages.

    ToolbenchError
    ├── ArgumentsError        the arguments of a call do not fit the tool's schema
    ├── BodyError             the text of a call is not the JSON, YAML or Python it should be
    ├── CaseError             a case of an evaluation, or a file of cases, cannot be used
    ├── ConsentError          consent for many calls, or for the servers of a file, was not given
    ├── ExportError           a tool cannot be written as a package or a module
    ├── FileError             a file that was named has other content, or cannot be written
    ├── FilterError           a filter names a key that the rows do not have
    ├── KindError             no class has that kind, or several have it
    ├── MissingExtraError     the feature needs a package that is not installed
    ├── ModelError            a model gave no answer
    │   ├── ModelConnectionError   ... its host could not be reached, or the connection broke
    │   ├── ModelDriftError        ... a recording has no answer to this request
    │   ├── ModelScriptError       ... its script has no more answers
    │   └── ModelStoppedError      ... it was stopped
    ├── RegistrationError     the registry got an object that is not a tool
    ├── SchemaError           a JSON Schema that cannot be used
    ├── SecretError           a secret of a tool has no value, so the tool was not run
    ├── ServerError           an MCP server could not be reached
    ├── ToolFailedError       a magic ran a tool and it failed; holds the observation
    │   └── ToolStoppedError  ... and it was refused or stopped
    └── ToolNotFoundError     no tool, or no server, has that name

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
    """One problem of a value: the path of the wrong part, and a sentence about what is wrong."""

    path: Path
    message: str

    @property
    def where(self) -> str:
        """The path as in Python: `items[2].name`; empty if the whole value is wrong."""
        where = ""
        for step in self.path:
            if isinstance(step, int):
                where += f"[{step}]"
            else:
                where += f".{step}"
        return where.removeprefix(".")

    @property
    def place(self) -> str:
        """The path as a form writes it, with items counted from 1: `orders, item 3, buyer.name`."""
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
        """Return only the message, for IPython: a traceback would not help."""
        return [f"{type(self).__name__}: {self}"]


# Problems that a message lists
_LISTED = 20


class ArgumentsError(ToolbenchError, ValueError):
    """The arguments of a call do not fit the tool's schema; `problems` says what is wrong with them."""

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
    """The text of a call could not be read as arguments."""


class CaseError(ToolbenchError, ValueError):
    """A case of an evaluation, a file of cases, or the input of a sweep cannot be used."""


class ConsentError(ToolbenchError, PermissionError):
    """Consent was needed and not given, for many calls together or for the servers of a file.

    Nothing was run or connected.
    """


class ExportError(ToolbenchError, ValueError):
    """A tool, or the tools of a server, cannot be written as code; the message says why."""


class FileError(ToolbenchError, OSError):
    """A file that the user named already has other content, or cannot be written."""


class FilterError(ToolbenchError, ValueError):
    """A filter names a key that the rows do not have."""


class KindError(ToolbenchError, ValueError, LookupError):
    """No class has the kind that was asked for, or several have it. The reference SDK: a ValueError."""


class ModelError(ToolbenchError, RuntimeError):
    """A model gave no answer; the conversation is unchanged and can continue."""

    status: int | None = None
    """The HTTP status with which the provider refused the request; None if it did not refuse."""
    answer: Any = None
    """The part of the answer that arrived before an error, an `Answer`; None if nothing arrived."""


class ModelConnectionError(ModelError, ConnectionError):
    """The host of a model could not be reached, or the connection broke."""

    def __new__(cls, *args: Any) -> Self:
        """Make the error without `RuntimeError.__new__`, which would refuse this class.

        tblib, with which dask pickles errors, calls `__new__` directly.
        """
        return ConnectionError.__new__(cls, *args)


class ModelDriftError(ModelError, LookupError):
    """A recording of a model has no answer to a request.

    The message compares the request with the most similar recorded request, and names a few
    descriptions of its tools, or last messages, that are recorded.
    """


class ModelScriptError(ModelError, LookupError):
    """A scripted model got more requests than its script has answers."""


class ModelStoppedError(ModelError):
    """A request to a model was stopped."""

    after: str = ""
    """What the stop could not end at once, as the end of a sentence; normally empty."""


class RegistrationError(ToolbenchError, ValueError):
    """The registry cannot register an object, or no tool can be made from it."""


class SchemaError(ToolbenchError, ValueError):
    """A JSON Schema that cannot be used."""


class SecretError(ToolbenchError, LookupError):
    """A secret of a tool has no value here; the message says where to put it."""


class ServerError(ToolbenchError, ConnectionError):
    """An MCP server could not be reached, or it refused the request."""


class ToolFailedError(ToolbenchError, RuntimeError):
    """A tool that a magic ran has failed; `observation` is its result."""

    def __init__(self, tool: str, observation: Any, place: str = "") -> None:
        """Make an error about *tool*, with the text of *observation*, its result.

        *place* is the line of code that failed, such as `In[12], line 7, in add_job`; empty if it is
        not known.
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
    """A tool that a magic should run was refused by the user or the policy, or its run was stopped."""


class ToolNotFoundError(ToolbenchError, KeyError):
    """No tool or server has the name that was asked for. The reference SDK raises a KeyError."""

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
    """A feature needs packages that are not installed."""

    def __init__(self, extra: str) -> None:
        """Make an error that says how to install *extra*, the extra of the distribution that is missing."""
        self.extra = extra
        super().__init__(f"{_EXTRAS[extra]} {how_to_install_extra(extra)}")

    # As above
    def __reduce__(self) -> Any:
        return type(self), (self.extra,)


# Names that a misspelt one is compared with
_MOST_COMPARED = 1_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x' or 'y'?"` with the names of *known* that are similar to *name*.

    Return an empty text if no name is similar. Only the first thousand names are looked at: a
    server may list any number, and each takes some microseconds.
    """
    looked_at = list(islice(known, _MOST_COMPARED))
    near = [repr(match) for match in get_close_matches(name, looked_at, n=3)]
    if not near:
        return ""
    return f" Did you mean {' or '.join(near)}?"


def ended(sentence: str) -> str:
    """Return *sentence* with a full stop at its end, unless it has another end mark."""
    if sentence.endswith((".", "?", "!", "…")):
        return sentence
    return f"{sentence}."


def indefinite(noun: str) -> str:
    """Return *noun* with its indefinite article: `an int`, `a str`."""
    if noun.lower().startswith(("a", "e", "i", "o")):
        return f"an {noun}"
    return f"a {noun}"
