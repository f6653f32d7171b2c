"""The exceptions toolbench raises when it is used wrongly, and the hints for parts not installed.

    ToolbenchError
    ├── ArgumentsError        the arguments of a call do not fit the tool's schema
    ├── BodyError             the text of a call is not the JSON, YAML or Python it should be
    ├── CaseError             a case of an evaluation, or a file of cases, cannot be used
    ├── ConsentError          a yes was needed for many calls, and there was none
    ├── ExportError           what was to become a package, or a module, cannot
    ├── KindError             no class, or more than one, goes by that kind
    ├── MissingExtraError     the feature needs a package that is not installed
    ├── ModelError            a model gave no answer
    │   ├── ModelConnectionError   ... its host could not be reached, or the connection broke
    │   ├── ModelDriftError        ... a recording has no answer to this request
    │   ├── ModelScriptError       ... its script is over
    │   └── ModelStoppedError      ... it was stopped
    ├── RegistrationError     what was given to the registry is no tool
    ├── SchemaError           a JSON Schema that cannot be used
    ├── ServerError           an MCP server could not be reached
    ├── ToolFailedError       a magic ran a tool and it failed; holds the observation
    │   └── ToolStoppedError  ... and it was refused or stopped
    └── ToolNotFoundError     no tool, or no server, goes by that name

Each is also the error of Python that says the same (`except ValueError` catches wrong arguments
and unknown kinds, `except KeyError` unknown tools), as the code written for the reference SDK
expects.

A tool that ran and *failed* raises nothing: it returns an Observation with `is_error=True`.
Only a magic, whose cell should then be marked as failed, turns that into an error.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a value: where, and a sentence that says what."""

    path: Path
    message: str

    @property
    def where(self) -> str:
        """The path as a person writes it: `items[2].name`; empty for the whole value."""
        dotted = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.path)
        return dotted.removeprefix(".")

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


class ToolbenchError(Exception):
    """Base of every error that says toolbench was used wrongly."""

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone: IPython asks for this, and a traceback would not help."""
        return [f"{type(self).__name__}: {self}"]


class ArgumentsError(ToolbenchError, ValueError):
    """The arguments do not fit the tool's schema; `problems` lists each misfit."""

    def __init__(self, tool: str, problems: Sequence[Problem]) -> None:
        """Say which *tool* was called and everything that is wrong."""
        self.tool = tool
        self.problems = tuple(problems)
        super().__init__(str(self))

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.tool}: {self.problems[0]}"
        lines = "".join(f"\n- {problem}" for problem in self.problems)
        return f"{self.tool}: {len(self.problems)} arguments do not fit:{lines}"

    def __reduce__(self) -> Any:  # for executors that work in other processes
        return type(self), (self.tool, self.problems)


class BodyError(ToolbenchError, ValueError):
    """The text of a call could not be read as arguments."""


class CaseError(ToolbenchError, ValueError):
    """A case of an evaluation, a file of cases, or the input of a sweep that cannot be used."""


class ConsentError(ToolbenchError, PermissionError):
    """A yes was needed for many calls together, and there was none: nothing was run."""


class ExportError(ToolbenchError, ValueError):
    """A tool, or a server's tools, cannot be written as code: the sentence says why."""


class KindError(ToolbenchError, ValueError, LookupError):
    """No class goes by that kind, or several do. The reference SDK raises a ValueError."""


class ModelError(ToolbenchError, RuntimeError):
    """A model gave no answer; the conversation stays as it was and can go on."""

    status: int | None = None
    """The HTTP status of the refusal, if there was one."""
    answer: Any = None
    """What had come of the answer until then, an `Answer`; None if nothing had."""


class ModelConnectionError(ModelError, ConnectionError):
    """The host of a model could not be reached, or the connection broke."""


class ModelDriftError(ModelError, LookupError):
    """A recording has no answer to a request; the message shows the difference to the nearest."""


class ModelScriptError(ModelError, LookupError):
    """A scripted model was asked once more than its script has answers."""


class ModelStoppedError(ModelError):
    """A request to a model was stopped."""


class RegistrationError(ToolbenchError, ValueError):
    """What was given to the registry cannot be registered."""


class SchemaError(ToolbenchError, ValueError):
    """A JSON Schema that cannot be used."""


class ServerError(ToolbenchError, ConnectionError):
    """An MCP server that could not be reached, or refused."""


class ToolFailedError(ToolbenchError, RuntimeError):
    """A tool run by a magic failed; `observation` is what came out."""

    def __init__(self, tool: str, observation: Any) -> None:
        """Say which *tool* failed, in the words of its *observation*."""
        self.tool = tool
        self.observation = observation
        text = observation.text.strip()
        asides = "".join(f"\n{aside}" for aside in getattr(observation, "_asides", ()))
        super().__init__(
            f"{'' if text.startswith(tool) else f'{tool}: '}{text}{asides}"
        )

    def __reduce__(self) -> Any:  # as above
        return type(self), (self.tool, self.observation)


class ToolStoppedError(ToolFailedError):
    """A tool run by a magic was refused by a person or the policy, or was stopped."""


class ToolNotFoundError(ToolbenchError, KeyError):
    """Nothing goes by the name that was asked for. The reference SDK raises a KeyError."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError shows its text in quotes


_EXTRAS = {
    "local": "Models on this machine need llama.cpp.",
    "demo": "Servers defined in a notebook need FastMCP's server half.",
    "pandas": "DataFrames need pandas.",
    "plots": "Plots need matplotlib.",
    "serve": "Serving tools needs FastMCP's server half.",
}


class MissingExtraError(ToolbenchError, ImportError):
    """A feature needs packages that are not installed."""

    def __init__(self, extra: str) -> None:
        """Name the *extra* of the distribution that brings the feature."""
        self.extra = extra
        super().__init__(f"{_EXTRAS[extra]} pip install 'jupyter-toolbench[{extra}]'")

    def __reduce__(self) -> Any:  # as above
        return type(self), (self.extra,)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `" Did you mean 'x' or 'y'?"` for the nearest of *known*, or nothing."""
    near = [repr(match) for match in get_close_matches(name, list(known), n=3)]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def ended(sentence: str) -> str:
    """Return *sentence* with a full stop, unless something else ends it."""
    return sentence if sentence.endswith((".", "?", "!", "…")) else f"{sentence}."


def indefinite(noun: str) -> str:
    """Return *noun* with its article: `an int`, `a str`."""
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"
