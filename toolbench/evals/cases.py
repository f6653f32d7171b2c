"""A list of cases from a file, the history, a table or schemas, shown as text or HTML."""

import json
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, overload
from warnings import warn

from toolbench.core.registry import find_tool
from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.display.escape import Html
from toolbench.display.tables import Frame, listing_html
from toolbench.errors import CaseError
from toolbench.evals import case_file, proposals
from toolbench.evals.case import PROPOSAL, Case
from toolbench.evals.examples import Example, ExampleFile
from toolbench.evals.grid import rows_of
from toolbench.redaction.detect import BY_NAMES
from toolbench.runs.history import history as session_history
from toolbench.runs.record import RunRecord
from toolbench.values import clip
from toolbench.wording import counted

# Cases
_LINES = 200
# Characters of arguments
_BRIEF = 300
_COLUMNS = ("case", "prompt", "expected", "compared as", "forbidden", "tags")


def expected_text(case: Case) -> str:
    """Return the calls that *case* expects, on one line."""
    calls = [f"{call.name}({_arguments(BY_NAMES.hide(call.arguments)[0])})" for call in case.calls]
    return ", ".join(calls) or "no call"


def _arguments(arguments: dict[str, object]) -> str:
    pairs = (f"{name}={clip(value, 80)}" for name, value in arguments.items())
    return shorten(", ".join(pairs), _BRIEF)


def cases_html(cases: Sequence[Case]) -> Html:
    """Return the first 200 of *cases* as a table, which needs no kernel."""
    if not cases:
        return Html("<div>There are no cases yet.</div>")
    rows = [_row(case) for case in islice(cases, _LINES)]
    return listing_html(_COLUMNS, rows, _rest(cases))


def cases_text(cases: Sequence[Case]) -> str:
    """Return the first 200 of *cases* as text, with a line for each case."""
    lines = [f"{case.title}: {expected_text(case)}" for case in islice(cases, _LINES)]
    return "\n".join([*lines, *_rest(cases)])


def _row(case: Case) -> list[str]:
    rules = (f"{path}: {clip(rule, 80)}" for path, rule in case.match.items())
    lists = (", ".join(case.forbid), ", ".join(case.tags))
    name = case.title if case.name else ""
    return [name, case.masked_prompt, expected_text(case), ", ".join(rules), *lists]


def _rest(cases: Sequence[Case]) -> list[str]:
    count = len(cases) - _LINES
    if count < 1:
        return []
    return [f"{counted(count, 'more case')}."]


_TABLE = ("prompt", "tool", "arguments", "forbid", "match", "name", "tags")


def _cases_of_table(frame: Frame) -> Iterator[Case]:
    """Return the cases of a table; rows with the same name and prompt become one case.

    Raises:
        CaseError: If the column `prompt` is missing, or a row is not a valid case.
    """
    if "prompt" not in frame.columns:
        msg = f"The table has no column `prompt`: its columns should be among {', '.join(_TABLE)}."
        raise CaseError(msg)
    groups: dict[Any, list[dict[str, Any]]] = {}
    for number, row in enumerate(rows_of(frame)):
        key: Any = number
        if row.get("name"):
            key = row["name"], row.get("prompt")
        groups.setdefault(key, []).append(row)
    return map(_case_of_rows, groups.values())


def _case_of_rows(rows: list[dict[str, Any]]) -> Case:
    calls = []
    for row in rows:
        if row.get("tool"):
            calls.append({"name": row["tool"], "arguments": _json(row, "arguments")})
    first = rows[0]
    return Case(
        first.get("prompt", ""),
        calls or None,
        forbid=_names(first.get("forbid", ())),
        match=_json(first, "match"),
        name=first.get("name") or None,
        tags=_names(first.get("tags", ())),
    )


def _json(row: Mapping[str, Any], column: str) -> Any:
    value = row.get(column) or {}
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        msg = f"The column {column} holds objects, or JSON text of one, not {clip(value)}."
        raise CaseError(msg) from None


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.replace(",", " ").split()
    return list(value)


class Cases(MutableSequence[Case]):
    """A list of the cases of an evaluation; `+` joins two lists.

    As the last value of a cell, the list is shown as a table.

    Examples:
        >>> from toolbench.evals import Case, Cases
        >>> cases = Cases([Case("Hello", tags=["smalltalk"]), Case("Thanks!", tags=["smalltalk"])])
        >>> cases.append({"prompt": "Roll a die.", "expect": {"name": "roll", "arguments": {}}})
        >>> len(cases), len(cases.tagged("smalltalk"))
        (3, 2)
        >>> cases.write("cases.yaml")
        >>> Cases.read("cases.yaml") == cases
        True
    """

    def __init__(self, cases: Iterable[Case | Mapping[str, Any]] = ()) -> None:
        """Make a list of *cases*: cases, or results of `Case.to_dict`.

        Raises:
            CaseError: If an item is not a case.
        """
        self._cases = [_case(case) for case in cases]
        self._head = case_file.Head()
        if isinstance(cases, Cases):
            self._head = cases._head

    @classmethod
    def from_history(
        cls,
        prompts: str | Mapping[int, str] | Iterable[tuple[RunRecord | int, str]],
        *,
        history: Sequence[RunRecord] | None = None,
    ) -> "Cases":
        """Return a case for each chosen run: a prompt, and the call of the run as the expected call.

        The history does not contain secrets or very long strings. If the call had such an argument,
        any value of this argument counts as correct.

        Args:
            prompts: The runs to use, and a prompt for each. A string is the prompt for the last
                run. A dict contains the prompts by the numbers of the runs:
                `{12: "Split 84 by 4"}`. A list contains pairs of a run and a prompt, in which the
                run is a number or a record: `[(12, "Split 84 by 4")]`.
            history: The history that contains the runs. If left out, the history of this session is
                used.

        Raises:
            CaseError: If there is no such run.
        """
        records = session_history() if history is None else history
        pairs: Iterable[tuple[RunRecord | int, str]]
        if isinstance(prompts, str):
            if not records:
                msg = "The history is empty: run the tool first, then make a case of it."
                raise CaseError(msg)
            pairs = [(records[-1], prompts)]
        else:
            pairs = prompts.items() if isinstance(prompts, Mapping) else prompts
        return cls(_of_record(_record(run, records), prompt) for run, prompt in pairs)

    @classmethod
    def from_examples(
        cls,
        source: ToolDefinition[Any, Any] | str | PathLike[str],
        prompts: Mapping[str, str] | None = None,
    ) -> "Cases":
        """Return a case for each example of a tool: a prompt, and the example as the expected call.

        An example is a named set of arguments that was saved in the panel of a tool, in the file
        `NAME.examples.yaml`. If an example leaves out an argument, such as a secret, any value of
        this argument counts as correct. If an example has no prompt, the prompt of its case lists
        the values, and the case has the tag "proposal", which `Case.confirmed()` removes.

        Args:
            source: A tool, or the path of a file. The file of a tool is in the folder of the
                notebook.
            prompts: Prompts by the names of examples. They replace the prompts in the file.

        Raises:
            CaseError: If the file does not exist or is not valid, or if *prompts* names an example
                that is not in the file.

        Examples:
            >>> from pathlib import Path
            >>> from toolbench.evals import Cases
            >>> length = Path("total.examples.yaml").write_text('''
            ... tool: total
            ... examples:
            ... - {name: two cakes, arguments: {items: [cake, cake]}}
            ... ''')
            >>> prompts = {"two cakes": "What do two cakes cost?"}
            >>> [case] = Cases.from_examples("total.examples.yaml", prompts)
            >>> case.prompt, dict(case.calls[0].arguments)
            ('What do two cakes cost?', {'items': ['cake', 'cake']})
        """
        given = dict(prompts or {})
        if isinstance(source, ToolDefinition):
            file = ExampleFile.of(source)
        else:
            file = ExampleFile(Path(source).expanduser())
        examples = file.read()
        unknown = given.keys() - {example.name for example in examples}
        if unknown or not examples:
            which = ", ".join(sorted(unknown)) or "yet"
            msg = f"{file.path} has no example {which}: save one in the panel of the tool first."
            raise CaseError(msg)
        return cls(_of_example(file.tool, example, given) for example in examples)

    @classmethod
    def from_dataframe(cls, frame: Any) -> "Cases":
        """Return a case for each row of a pandas DataFrame.

        The DataFrame has the columns `prompt`, `tool` and `arguments`, and optionally `forbid`,
        `match`, `name` and `tags`. If `tool` is empty, no call is expected. `arguments` contains
        objects or JSON text. Rows with the same name and prompt become one case that expects
        several calls.

        Raises:
            CaseError: If the column `prompt` is missing, or a row is not a case.
        """
        return cls(_cases_of_table(frame))

    @classmethod
    def propose(
        cls,
        tools: Iterable[ToolDefinition[Any, Any] | str],
        *,
        each: int = 3,
        seed: int = 0,
    ) -> "Cases":
        """Return proposals of cases, made from the schemas of *tools* without a model.

        The prompt of a proposal only lists values that fit the schema, so rewrite it in natural
        words. Each proposal has the tag "proposal", which `Case.confirmed()` removes. At the end,
        one case is added that expects no call. If nothing can be proposed for a tool, for example
        because its schema has a pattern, a warning names the tool.

        Args:
            tools: The tools, or the names of tools.
            each: The maximum number of cases for each tool. If the tool's schema allows fewer
                different calls, there are fewer cases.
            seed: The seed for the random choice of values. A different seed gives different values.
        """
        tool_list = [find_tool(tool) if isinstance(tool, str) else tool for tool in tools]
        absences: list[str] = []
        cases = cls(proposals.propose(tool_list, absences.append, each=each, seed=seed))
        for text in absences:
            warn(text, stacklevel=2)
        return cases

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "Cases":
        """Return the cases of a YAML file in the format of pydantic-evals.

        Raises:
            CaseError: If the file cannot be read, or contains a case that is not valid.
        """
        cases, head = case_file.read(Path(path))
        return cls(cases)._with_head(head)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the cases to a YAML file that pydantic-evals reads as a dataset.

        If the cases were read from a file, other fields of that file, such as evaluators, are
        written too, because pydantic-evals uses them. If writing fails, the file at *path* does not
        change.

        Args:
            path: The file.
            overwrite: Whether to replace a file that has other content, such as the file from which
                the cases were read.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        case_file.write(Path(path), self._cases, self._head, overwrite=overwrite)

    def _with_head(self, head: case_file.Head) -> "Cases":
        self._head = head
        return self

    @property
    def proposals(self) -> "Cases":
        """The cases that a program wrote and that no user has confirmed yet."""
        cases = (case for case in self._cases if case.is_proposal)
        return Cases(cases)._with_head(self._head)

    def tagged(self, *tags: str) -> "Cases":
        """Return the cases that have all of *tags*."""
        cases = (case for case in self._cases if set(tags) <= set(case.tags))
        return Cases(cases)._with_head(self._head)

    def insert(self, index: int, value: Case | Mapping[str, Any]) -> None:
        """Insert a case before the case at *index*.

        Raises:
            CaseError: If *value* is not a case.
        """
        self._cases.insert(index, _case(value))

    @overload
    def __getitem__(self, index: int) -> Case: ...
    @overload
    def __getitem__(self, index: slice) -> "Cases": ...
    def __getitem__(self, index: int | slice) -> "Case | Cases":
        if isinstance(index, slice):
            return Cases(self._cases[index])._with_head(self._head)
        return self._cases[index]

    @overload
    def __setitem__(self, index: int, value: Case) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[Case]) -> None: ...
    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            self._cases[index] = map(_case, value)
        else:
            self._cases[index] = _case(value)

    def __delitem__(self, index: int | slice) -> None:
        del self._cases[index]

    def __len__(self) -> int:
        return len(self._cases)

    def __add__(self, other: Iterable[Case]) -> "Cases":
        return Cases([*self._cases, *other])._with_head(self._head)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cases) and self._cases == other._cases

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        proposals = sum(case.is_proposal for case in self._cases)
        suffix = ""
        if proposals:
            suffix = f", {counted(proposals, 'proposal')}"
        return f"<Cases: {counted(len(self), 'case')}{suffix}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        text = cases_text(self._cases)
        return {
            "text/plain": f"{self!r}\n{text}",
            "text/html": cases_html(self._cases),
        }


def _case(value: Any) -> Case:
    if isinstance(value, Case):
        return value
    if isinstance(value, Mapping) and "prompt" in value:
        fields = dict(value)
        prompt, expect = fields.pop("prompt"), fields.pop("expect", None)
        try:
            return Case(prompt, expect, **fields)
        except TypeError:
            pass
    msg = (
        f"Cases are Case(prompt, expect) or objects with `prompt` and `expect`, not {clip(value)}."
    )
    raise CaseError(msg)


def _record(run: RunRecord | int, records: Sequence[RunRecord]) -> RunRecord:
    if isinstance(run, RunRecord):
        return run
    record_of_run = next((record for record in reversed(records) if record.id == run), None)
    if record_of_run is None:
        msg = f"There is no run {run!r} in the history: %tools history shows the last ones."
        raise CaseError(msg)
    return record_of_run


def _of_example(tool: str, example: Example, prompts: Mapping[str, str]) -> Case:
    prompt, tags = prompts.get(example.name) or example.prompt, tuple[str, ...]()
    if not prompt:
        prompt, tags = proposals.prompt_of(tool, example.arguments), (PROPOSAL,)
    left_out = dict.fromkeys(example.left_out, "any")
    call = {"name": tool, "arguments": example.arguments}
    return Case(prompt, call, match=left_out, name=example.name, tags=tags)


def _of_record(record: RunRecord, prompt: str) -> Case:
    arguments = record.known_arguments
    lost = {name: "any" for name in record.arguments if name not in arguments}
    return Case(prompt, {"name": record.tool, "arguments": arguments}, match=lost)
