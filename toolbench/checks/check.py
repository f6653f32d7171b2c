"""A check: a call of a tool, the expected result, and the differences of an actual result."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolbench.core.coercion import ResultObservation
from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.display.caps import shorten
from toolbench.errors import CaseError, Problem, SchemaError, ToolbenchError
from toolbench.evals.match import ABSENT, LOOSE, FieldRule, loosened, result_differences, rules_of
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.jsonschema.validate import SchemaValidator
from toolbench.mcp.results import MCPObservation
from toolbench.redaction import MARK
from toolbench.redaction.detect import BY_NAMES
from toolbench.values import as_sent, clip, is_json, json_text, plain

# Characters of the arguments or the result of a check
_LONGEST = 100_000
# Characters of an error or a warning in a problem
_TEXT = 2_000
# Differences that are listed
_MOST = 50
# The fields that every observation has
_OWN = frozenset({*Observation.model_fields, "kind"})


class Expectation(BaseModel):
    """The result that a check expects. Only the expectations that are given are checked.

    However, a failed call or a warning always counts as a problem, unless `error` or `warnings`
    allows it.

    For example, this check in a file has rules for some parts of its result:

        - name: the books of 1815
          tool: library.find
          arguments: {year: 1815}
          answers: [{until: "2027-01-31"}]  # null declines
          expect:
            result: {books: [{title: Emma, id: 17}], found: 1, at: "2026-11-30T09:15:00Z"}
            match: {"books[].id": any, found: {approx: 0.1}}
            loosen: [times, ids]
            seconds: 2

    Examples:
        >>> from toolbench.checks import Check
        >>> expect = {"result": {"eur": 3.0}, "match": {"eur": "approx"}, "seconds": 2}
        >>> check = Check("a price", "shop.price", expect=expect)
        >>> check.expectation.result, check.expectation.seconds
        ({'eur': 3.0}, 2.0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    result: Any = None
    """The data of the result as JSON; see `result_of`."""
    text: str | None = None
    """The text of the result."""
    match: str | dict[str, Any] = Field(default_factory=dict)
    """The rules by which parts of the result are compared, by the path of the part. Equal, approx,
    regex, contains, subset, unordered and any are the rules of `Case`. There are also type (as in
    `{"type": "integer"}`), times and ids. The path "*" stands for all parts without a rule. A
    single rule instead of an object applies to the whole result. A part may be missing in `result`
    if its rule needs no expected value, as a regex does not."""
    loosen: list[Literal["times", "ids"]] = Field(default_factory=list)
    """What may differ everywhere: "times" accepts any date-time, "ids" any UUID or hash."""
    json_schema: bool | dict[str, Any] | None = Field(default=None, alias="schema")
    """A JSON Schema that the result must fit."""
    error: bool | str = False
    """Whether the tool must fail; a string is a regular expression that must match its text."""
    warnings: bool = False
    """Whether warnings about a server's answer are allowed."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """The most seconds that the call may take."""

    @property
    def expected(self) -> Any:
        """The expected result or text; `ABSENT` if neither is given."""
        if "result" in self.model_fields_set:
            return self.result
        if self.text is not None:
            return self.text
        return ABSENT

    @cached_property
    def rules(self) -> dict[str, FieldRule]:
        """The rules of `match`, by path.

        Raises:
            CaseError: If a value is not a rule.
        """
        match = self.match
        if isinstance(match, str):
            match = {"*": match}
        return rules_of(match)

    @cached_property
    def validator(self) -> SchemaValidator | None:
        """The validator of `schema`; None if there is no schema.

        Raises:
            SchemaError: If `schema` is not a JSON Schema.
        """
        if self.json_schema is None:
            return None
        return SchemaValidator(self.json_schema)


@dataclass(frozen=True)
class Check:
    """A call of a tool, together with the expected result.

    A call with a secret cannot become a check. Images are compared by their hash.

    Raises:
        CaseError: If a part of the check cannot be used. The message names the check and the part.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.checks import Check
        >>> @tool
        ... def add(a: int, b: int) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> check = Check("adds", "add", arguments={"a": 1, "b": 2}, expect={"result": 3})
        >>> check.problems(add(a=1, b=3))
        [Problem(path=(), message='3 was expected, and 4 was returned')]
    """

    name: str
    """A sentence about the tool that the check tests; names are unique in a file."""
    tool: str
    """`SERVER.TOOL`, `MODULE:TOOL`, or the name of a tool of the notebook."""
    arguments: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    answers: Sequence[Any] = field(default=(), kw_only=True, repr=False)
    """The answers to the questions that the tool asks during the call, as for `answering`."""
    expect: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    """What is expected; see `Expectation`. If empty, the call must succeed without a warning."""

    def __post_init__(self) -> None:
        for part in ("name", "tool"):
            value = getattr(self, part)
            if not isinstance(value, str) or not value.strip():
                msg = f"The {part} of a check must be a non-empty string, not {clip(value)}."
                raise CaseError(msg)
        object.__setattr__(self, "arguments", plain(as_sent(dict(self.arguments))))
        object.__setattr__(self, "answers", tuple(self.answers))
        try:
            self._check()
        except ValidationError as error:
            problem = str(pydantic_problems(error, Expectation.model_fields)[0])
            msg = f"The check {clip(self.name)} cannot be used: expect.{problem.rstrip('.')}."
            raise CaseError(msg) from None
        except (CaseError, SchemaError) as error:
            msg = f"The check {clip(self.name)} cannot be used: {error}"
            raise CaseError(msg) from None

    def _check(self) -> None:
        rules = self.expectation.rules
        wanting = [path or "*" for path, rule in rules.items() if rule.needs_expected]
        if wanting and self.expectation.expected is ABSENT:
            msg = (
                f"The rule for {wanting[0]} compares with a `result` or `text`, and there is none."
            )
            raise CaseError(msg)
        if isinstance(self.expectation.error, str):
            FieldRule.of({"regex": self.expectation.error})
        # Made once, before anything is called
        _ = self.expectation.validator

    @cached_property
    def expectation(self) -> Expectation:
        """The expectation as an object."""
        return Expectation.model_validate(dict(self.expect))

    @property
    def is_of_module(self) -> bool:
        """Whether the tool is imported from a module, rather than from a server or the notebook."""
        return ":" in self.tool

    def problems(self, observation: Observation, seconds: float | None = None) -> list[Problem]:
        """Return the differences between *observation* and the expected result.

        Args:
            observation: The result of the call.
            seconds: The duration of the call; None if it is not known.
        """
        wanted = self.expectation
        problems = self._failure(observation)
        if not problems:
            problems = self._differences(observation)
        asides = warnings_of(observation)
        # An expected failure is explained by what the server wrote to stderr
        if asides and not (wanted.warnings or wanted.error):
            problems.append(Problem((), f"a warning: {shorten(' '.join(asides), _TEXT)}"))
        if wanted.seconds is not None and seconds is not None and seconds > wanted.seconds:
            text = f"it took {seconds:.3g} s, and at most {wanted.seconds:g} s were expected"
            problems.append(Problem((), text))
        return problems

    def _failure(self, observation: Observation) -> list[Problem]:
        """Return the problem if the tool failed unexpectedly, or did not fail as expected."""
        error = self.expectation.error
        if observation.is_error and not error:
            return [Problem((), f"it failed: {shorten(observation.text, _TEXT)}")]
        if error and not observation.is_error:
            return [Problem((), "it should have failed, and succeeded")]
        if isinstance(error, str):
            rule = FieldRule.of({"regex": error})
            if not rule.matches(None, observation.text):
                text = (
                    f"its error should match {clip(error)}, and was {clip(observation.text, 200)}"
                )
                return [Problem((), text)]
        return []

    def compared(self, observation: Observation) -> tuple[Any, Any]:
        """Return the expected and the actual result, both as JSON or both as text.

        If `loosen` allows times or ids to differ, they are replaced in both results by `<times>` or
        `<ids>`. If the check expects no particular result, the first value is `ABSENT`.
        """
        expected, loosen = self.expectation.expected, self.expectation.loosen
        if expected is not ABSENT:
            expected = loosened(expected, loosen)
        return expected, loosened(self._returned(observation), loosen)

    def _returned(self, observation: Observation) -> Any:
        """Return the part of *observation* to compare: its data, or its text."""
        wanted = self.expectation
        result = result_of(observation)
        if result is ABSENT or (
            "result" not in wanted.model_fields_set and wanted.text is not None
        ):
            return observation.text
        return result

    def _differences(self, observation: Observation) -> list[Problem]:
        wanted, problems = self.expectation, list[Problem]()
        try:
            expected, actual = self.compared(observation)
            if expected is not ABSENT or wanted.rules:
                problems = result_differences(expected, actual, wanted.rules)[:_MOST]
        except RecursionError:
            problems = [Problem((), "it is nested too deeply to be compared")]
        if wanted.validator is not None:
            # Of its formats, a loosened one fits none
            problems += wanted.validator.problems(self._returned(observation))
        return problems

    @classmethod
    def of_result(
        cls,
        name: str,
        tool: str,
        arguments: Mapping[str, Any],
        observation: Observation,
        *,
        answers: Sequence[Any] = (),
    ) -> "Check":
        """Return a check that expects the result in *observation*.

        If the result contains times or ids, the check allows them to differ.

        Args:
            name: The name of the check.
            tool: The address of the tool, which becomes the attribute `tool`.
            arguments: The arguments of the call.
            observation: The result of the call, without secrets.
            answers: The answers to the questions that the tool asked.

        Raises:
            CaseError: If the check would contain a secret, or be too long.
        """
        check = cls(name, tool, arguments=arguments, answers=answers)
        sent = json_text([check.arguments, check.answers])
        hidden = BY_NAMES.hide(check.arguments)[0]
        if MARK in sent or hidden != check.arguments:
            msg = (
                f"No check was made of {tool}: its arguments have a secret, which no file keeps. Let "
                "the tool take it by `secret(...)`, or a server from its environment."
            )
            raise CaseError(msg)
        made = check.accepting(observation)
        size = max(len(sent), len(json_text(made.expect)))
        if size > _LONGEST:
            msg = f"No check was made of {tool}: it would have {size:,} characters; {_LONGEST:,} are allowed."
            raise CaseError(msg)
        return made

    def accepting(self, observation: Observation) -> "Check":
        """Return a copy that expects *observation*, without the rules that *observation* breaks."""
        made = replace(self, expect=self._expecting(observation))
        for key in ("match", "schema"):
            if key in made.expect and made.problems(observation):
                rest = {name: value for name, value in made.expect.items() if name != key}
                made = replace(made, expect=rest)
        return made

    def _expecting(self, observation: Observation) -> dict[str, Any]:
        data = result_of(observation)
        seen: dict[str, Any] = {"result": data}
        if data is ABSENT or observation.is_error:
            seen = {"text": observation.text}
        if observation.is_error:
            seen["error"] = self.expectation.error or True
        elif warnings_of(observation):
            seen["warnings"] = True
        text = json_text(seen)
        loose: list[str] = [*self.expectation.loosen]
        for name, pattern in LOOSE.items():
            if name not in loose and pattern.search(text):
                loose.append(name)
        if loose:
            seen["loosen"] = loose
        # Where the user has them, the keys that stay keep their place
        expect = {}
        for key, value in self.expect.items():
            if key in seen or key not in ("result", "text", "error"):
                expect[key] = seen.get(key, value)
        return expect | seen

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON data, without empty fields."""
        whole = {
            "name": self.name,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "answers": plain(list(self.answers)),
            "expect": dict(self.expect),
        }
        return {key: value for key, value in whole.items() if value}


def result_of(observation: Observation) -> Any:
    """Return the result in *observation* as JSON; `ABSENT` if the result is only text.

    Usually, the result is the data of the observation. For an observation class that the tool
    defines, the result consists of the class's fields. If there are images but no data, the result
    is a list of the blocks, with a hash for each image.
    """
    is_text = all(isinstance(item, TextContent) for item in observation.content)
    if isinstance(observation, ResultObservation | MCPObservation):
        data = ABSENT
        if is_text or getattr(observation, "structured", None) is not None:
            data = _data_of(observation)
        if data is ABSENT and not is_text:
            return [_part(item) for item in observation.content]
        return data
    fields = plain({key: value for key, value in observation if key not in _OWN})
    return fields or ABSENT


def warnings_of(observation: Observation) -> list[str]:
    """Return the warnings in *observation*, except the warning that its server was restarted."""
    lost = getattr(observation, "lost", ())
    return [aside for aside in observation._asides if aside not in lost]


def _data_of(observation: ResultObservation | MCPObservation) -> Any:
    try:
        data = observation.data
    except ToolbenchError:
        # Not kept: a long table, a Python object
        return ABSENT
    if data is None and observation.text:
        return ABSENT
    if not is_json(data):
        data = plain(as_sent(data))
    if isinstance(data, str) and data == observation.text:
        return ABSENT
    return data


def _part(item: Any) -> Any:
    if isinstance(item, TextContent):
        return item.text
    digest = sha256(json_text(plain(item)).encode()).digest()
    # Not as hexadecimal digits: they would look like an id
    return f"{type(item).__name__} sha256 {urlsafe_b64encode(digest).decode()}"
