"""Named values of a tool's form, in a file beside the notebook: `NAME.examples.yaml`.

Panels show them, and evaluations make cases of them. A user may edit the file.
"""

import os
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import BodyError, CaseError
from toolbench.files import open_unlinked, write_whole
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.jsonschema.yaml_text import read_yaml, write_yaml
from toolbench.redaction.known import remembered
from toolbench.runs.kernel import notebook_folder
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.locks import file_locks
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


class ExampleFile:
    """The file with the examples of one tool. Each change reads it again: others may write it too."""

    def __init__(self, path: Path, tool: str = "", schema: Any = None) -> None:
        """Use the file *path*; nothing is read yet.

        Args:
            path: The file.
            tool: The address of the tool whose file it is; empty for the one that the file names.
            schema: The schema of the tool's arguments: where it takes text, a text needs no quotes.
        """
        self.path, self.tool = path, tool
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
        return self._parsed(self._text())

    def put(self, example: Example) -> None:
        """Add *example*, in place of one of the same name.

        Raises:
            CaseError: If the file cannot be read or written; it stays as it was.
        """
        try:
            # What exists can be locked
            os.close(open_unlinked(self.path, os.O_RDWR | os.O_CREAT))
            with file_locks(self.path.resolve()):
                text = self._text()
                examples = self._parsed(text)
                rest = [each for each in examples if each.name != example.name]
                longer = ""
                if len(rest) == len(examples):
                    longer = self._longer(text, [*rest, example])
                text = longer or self._whole(text, [*rest, example])
                if len(text.encode()) > _LARGEST:
                    self._refuse(f"with this example it has more than {_LARGEST:,} bytes")
                write_whole(self.path, text, is_private=False)
        except RunError as error:
            raise CaseError(str(error)) from None
        except OSError as error:
            msg = f"{self.path.name} cannot be written: {error.strerror}."
            raise CaseError(msg) from None

    def _longer(self, text: str, examples: list[Example]) -> str:
        """Return *text* with the last of *examples* at its end, so that comments stay; "" if it fails."""
        entry = write_yaml([_written(examples[-1])])
        for indent in ("", "  "):
            lines = "".join(f"{indent}{line}" for line in entry.splitlines(keepends=True))
            longer = f"{text.rstrip()}\n{lines}"
            try:
                if self._parsed(longer) == examples:
                    return longer
            except CaseError:
                continue
        return ""

    def _whole(self, text: str, examples: list[Example]) -> str:
        """Return the text of a file with *examples*, below the comment that *text* begins with."""
        lines = text.splitlines(keepends=True)
        comment = "".join(takewhile(lambda line: line.startswith("#"), lines))
        if not text.strip():
            comment = f"# Named values for the form of {self.tool}, never with secrets.\n"
        data = {"tool": self.tool, "examples": [*map(_written, examples)]}
        return comment + write_yaml(data)

    def _text(self) -> str:
        data = b""
        try:
            # To open a pipe would wait for a writer
            if self.path.is_fifo():
                self._refuse("it is a pipe, not a file")
            with open(self.path, "rb", opener=open_unlinked) as file:
                data = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return ""
        except OSError as error:
            self._refuse(error.strerror or type(error).__name__)
        if len(data) > _LARGEST:
            self._refuse(f"it has more than {_LARGEST:,} bytes")
        return data.decode(errors="replace")

    def _parsed(self, text: str) -> list[Example]:
        try:
            # A few lines of aliases could stand for more than memory holds; a scan takes long
            if "*" in text and any(isinstance(each, yaml.AliasToken) for each in yaml.scan(text)):
                self._refuse("it has an alias: write its value instead")
            path = ("examples", None, "arguments")
            data = plain(read_yaml(text, self._schema, what="it", path=path))
            if data is None:
                return []
            contents = _Contents.model_validate(data)
        except ValidationError as error:
            self._refuse(str(pydantic_problems(error)[0]))
        except (BodyError, yaml.YAMLError) as error:
            self._refuse(" ".join(str(error).split()).rstrip("."))
        if self.tool not in ("", contents.tool):
            self._refuse(f"it is of the tool {clip(contents.tool)}, not of {self.tool}")
        self.tool = contents.tool
        return contents.examples

    def _refuse(self, why: str) -> NoReturn:
        msg = f"{self.path.name} cannot be used: {why}."
        raise CaseError(msg) from None


def _written(example: Example) -> dict[str, Any]:
    return example.model_dump(mode="json", exclude_defaults=True)
