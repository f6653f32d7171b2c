"""Named values of a tool's form, in a file in the notebook's folder: `NAME.examples.yaml`.

Panels show them, and evaluations turn them into cases. A user may edit the file.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import CaseError
from toolbench.evals.entry_file import EntryFile, appended, head_of
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.jsonschema.yaml_text import write_yaml
from toolbench.redaction.known import remembered
from toolbench.runs.kernel import notebook_folder
from toolbench.values import as_sent, clip, json_text, plain

ENDING = ".examples.yaml"
# Bytes of a file, and characters of one argument
_LARGEST, _LONGEST = 200_000, 20_000


class Example(BaseModel):
    """Named arguments of a tool; further keys that a user wrote in the entry are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    arguments: dict[str, Any]
    left_out: tuple[str, ...] = ()
    """The names of arguments that are not saved because they have a secret or are too long."""
    prompt: str = ""
    """What a user would ask a model for; empty if no user wrote a prompt."""

    @classmethod
    def of(cls, name: str, arguments: Mapping[str, Any], masked: Mapping[str, Any]) -> "Example":
        """Return an example with all *arguments* except secrets and very long values.

        *masked* is a copy of the arguments with secrets masked. An argument that differs from its
        copy contains a secret, so it is left out.

        Raises:
            CaseError: If *name* is empty or too long.
        """
        name = " ".join(name.split())
        if not name or len(name) > 80:
            msg = "An example needs a name of at most 80 characters."
            raise CaseError(msg)
        values = plain(as_sent(dict(arguments)))
        # A secret of another tool or server may stand in any argument
        shown = remembered.redactor.value(plain(as_sent(dict(masked))))
        kept = {}
        for key, value in values.items():
            if shown.get(key) == value and len(json_text(value)) <= _LONGEST:
                kept[key] = value
        left_out = tuple(key for key in values if key not in kept)
        return cls(name=name, arguments=kept, left_out=left_out)


class _Contents(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str
    examples: list[Example]


class ExampleFile(EntryFile):
    """The file with the examples of one tool."""

    def __init__(self, path: Path, tool: str = "", schema: Any = None) -> None:
        """Use the file *path*; nothing is read yet.

        Args:
            path: The file.
            tool: The address of the tool to which the file belongs; if empty, the file names the
                tool.
            schema: The schema of the tool's arguments, with which the file is read: a value needs
                no quotes if the schema expects a string.
        """
        super().__init__(path, _LARGEST, "example")
        self.tool = tool
        self._schema = schema or {}

    @classmethod
    def of(cls, tool: ToolDefinition[Any, Any]) -> "ExampleFile":
        """Return the file of *tool* in the folder of the notebook; the file need not exist."""
        address = ToolAddress.of(tool)
        path = notebook_folder() / f"{address.file_name}{ENDING}"
        return cls(path, str(address), tool.input_schema)

    @property
    def is_first(self) -> bool:
        """Whether the folder has no file with examples yet."""
        return not any(self.path.parent.glob(f"*{ENDING}"))

    def read(self) -> list[Example]:
        """Return the examples; an empty list if there is no file.

        Raises:
            CaseError: If the file cannot be read, or contains anything but examples.
        """
        return self._parsed(self.text())

    def put(self, example: Example) -> None:
        """Add *example*, or replace the example of the same name.

        Raises:
            CaseError: If the file cannot be read or written. It then stays unchanged.
        """
        self.change(partial(self._with, example))

    def _with(self, example: Example, text: str) -> str:
        """Return *text* with *example* added; comments stay, unless an example is replaced."""
        examples = self._parsed(text)
        rest = [each for each in examples if each.name != example.name]
        longer = ""
        if len(rest) == len(examples):
            wanted = [*rest, example]
            longer = appended(text, _written(example), lambda made: self._is(made, wanted))
        return longer or self._whole(text, [*rest, example])

    def _is(self, text: str, examples: list[Example]) -> bool:
        try:
            return self._parsed(text) == examples
        except CaseError:
            return False

    def _whole(self, text: str, examples: list[Example]) -> str:
        """Return the text of a file with *examples*, below the first comment of *text*."""
        comment = head_of(text)
        if not text.strip():
            comment = f"# Named values for the form of {self.tool}, never with secrets.\n"
        data = {"tool": self.tool, "examples": [*map(_written, examples)]}
        return comment + write_yaml(data)

    def _parsed(self, text: str) -> list[Example]:
        data = self.data(text, self._schema, ("examples", None, "arguments"))
        if data is None:
            return []
        try:
            contents = _Contents.model_validate(data)
        except ValidationError as error:
            self.refuse(str(pydantic_problems(error)[0]))
        if self.tool not in ("", contents.tool):
            self.refuse(f"it is of the tool {clip(contents.tool)}, not of {self.tool}")
        self.tool = contents.tool
        return contents.examples


def _written(example: Example) -> dict[str, Any]:
    return example.model_dump(mode="json", exclude_defaults=True)
