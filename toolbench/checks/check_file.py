"""The file of checks, `NAME.checks.yaml`; changes to the file keep its comments."""

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from toolbench.checks.check import Check
from toolbench.errors import CaseError
from toolbench.evals.entry_file import EntryFile, appended, changed_in, head_of
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.jsonschema.yaml_text import write_yaml
from toolbench.values import clip

ENDING = ".checks.yaml"
# Bytes of a file
_LARGEST = 2_000_000
_HEAD = "# Calls with what is expected of their results. Run them: %tools check FILE, toolbench check FILE, pytest\n"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    tool: str
    arguments: dict[str, Any] = {}
    answers: list[Any] = []
    expect: dict[str, Any] = {}


class _Contents(BaseModel):
    model_config = ConfigDict(extra="forbid")

    checks: list[_Entry]


class CheckFile(EntryFile):
    """A file of checks."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Use the file *path*; nothing is read yet."""
        # Path.expanduser raises for a user that there is not
        super().__init__(Path(os.path.expanduser(path)), _LARGEST, "check")  # noqa: PTH111

    def read(self) -> list[Check]:
        """Return the checks; an empty list if there is no file.

        Raises:
            CaseError: If the file cannot be read, or contains anything but checks.
        """
        return self._parsed(self.text())

    def add(self, check: Check) -> Check:
        """Add *check* at the end of the file. If its name is taken, a number is added to the name.

        Returns:
            The check with the name that it has in the file.

        Raises:
            CaseError: If the file cannot be read or written. In this case, the file does not
                change.
        """
        added = [check]
        self.change(partial(self._longer, added))
        return added[0]

    def _longer(self, added: list[Check], text: str) -> str:
        checks = self._parsed(text)
        check = added[0] = numbered(added[0], {each.name for each in checks})
        wanted = [*checks, check]
        if not checks:
            return head_of(text) + text_of(wanted, has_head=bool(text.strip()))
        longer = appended(text, check.to_dict(), lambda made: self._is(made, wanted))
        return longer or head_of(text) + text_of(wanted, has_head=True)

    def replace(self, check: Check) -> None:
        """Copy the expectations of *check* to the check of the same name in the file.

        Raises:
            CaseError: If the file has no such check, or cannot be read or written. In this case,
                the file does not change.
        """
        self.change(partial(self._with, check))

    def _with(self, check: Check, text: str) -> str:
        checks = self._parsed(text)
        names = [each.name for each in checks]
        if check.name not in names:
            self.refuse(f"it has no check {clip(check.name)} any more")
        place = names.index(check.name)
        wanted = [*checks[:place], check, *checks[place + 1 :]]
        made = changed_in(text, ("checks", place), checks[place].to_dict(), check.to_dict())
        if made and self._is(made, wanted):
            return made
        return head_of(text) + text_of(wanted, has_head=True)

    def _is(self, text: str, checks: list[Check]) -> bool:
        try:
            return self._parsed(text) == checks
        except CaseError:
            return False

    def _parsed(self, text: str) -> list[Check]:
        data = self.data(text)
        if data is None:
            return []
        try:
            entries = _Contents.model_validate(data).checks
        except ValidationError as error:
            self.refuse(str(pydantic_problems(error)[0]).rstrip("."))
        checks = list[Check]()
        for entry in entries:
            try:
                checks.append(Check(**entry.model_dump()))
            except CaseError as error:
                self.refuse(str(error).rstrip("."))
        names = [check.name for check in checks]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            self.refuse(f"it has several checks {clip(twice)}: give each another name")
        return checks


def numbered(check: Check, names: Collection[str]) -> Check:
    """Return *check*; if its name is in *names*, return a copy with a number added to the name."""
    name, number = check.name, 1
    while name in names:
        number += 1
        name = f"{check.name} {number}"
    return replace(check, name=name)


def text_of(checks: Sequence[Check], *, has_head: bool = False) -> str:
    """Return the text of a file with *checks*, below a comment unless *has_head* is true."""
    text = write_yaml({"checks": [check.to_dict() for check in checks]})
    if has_head:
        return text
    return _HEAD + text
