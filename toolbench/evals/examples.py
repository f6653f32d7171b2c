"""Named values of a tool's form, in a file beside the notebook: `NAME.examples.yaml`.

Panels show them, and evaluations make cases of them. A user may edit the file.
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
    """Arguments of a tool under a name; what else a user has written beside them is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    arguments: dict[str, Any]
    left_out: tuple[str, ...] = ()
    """The names of the arguments that the file does not have: those with a secret, or too long."""
    prompt: str = ""
    """What a user would ask a model for; empty if nobody has written it."""

    @classmethod
    def of(cls, name: str, arguments: Mapping[str, Any], masked: Mapping[str, Any]) -> "Example":
        """Return *arguments* as an example, without what is hidden in *masked*, a copy of them.

        Raises:
            CaseError: If *name* is no name.
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
            tool: The address of the tool whose file it is; empty for the one that the file names.
            schema: The schema of the tool's arguments: where it takes text, a text needs no quotes.
        """
        super().__init__(path, _LARGEST, "example")
        self.tool = tool
        self._schema = schema or {}

    @classmethod
    def of(cls, tool: ToolDefinition[Any, Any]) -> "ExampleFile":
        """Return the file of *tool*, in the folder of the notebook; there may be none yet."""
        address = ToolAddress.of(tool)
        path = notebook_folder() / f"{address.file_name}{ENDING}"
        return cls(path, str(address), tool.input_schema)

    @property
    def is_first(self) -> bool:
        """Whether there is no file with examples in the folder yet."""
        return not any(self.path.parent.glob(f"*{ENDING}"))

    def read(self) -> list[Example]:
        """Return the examples, none if there is no file.

        Raises:
            CaseError: If the file cannot be read, or has anything else.
        """
        return self._parsed(self.text())

    def put(self, example: Example) -> None:
        """Add *example*, in place of one of the same name.

        Raises:
            CaseError: If the file cannot be read or written; it stays as it was.
        """
        self.change(partial(self._with, example))

    def _with(self, example: Example, text: str) -> str:
        """Return *text* with *example*; comments stay if it is a new one."""
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
        """Return the text of a file with *examples*, below the comment that *text* begins with."""
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
