"""A case: a prompt, and the tool calls that a model should make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from toolbench.errors import CaseError, did_you_mean
from toolbench.evals.match import ExpectedCall, FieldRule, rules_of
from toolbench.llm.calls import ToolCall
from toolbench.redaction.detect import BY_NAMES
from toolbench.redaction.redactor import Redactor
from toolbench.values import clip, plain

PROPOSAL = "proposal"
"""The tag of a case that a program wrote, and that no user has confirmed."""


@dataclass(frozen=True)
class Case:
    """A prompt, and the calls that a model's answer should have.

    Raises:
        CaseError: If a part of the case is not valid. The message names the part.

    Examples:
        >>> from toolbench.evals import Case
        >>> call = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
        >>> case = Case("Split 84 euros by four.", expect=call, match={"total": "approx"})
        >>> case.calls[0].name, case.title
        ('split_bill', 'Split 84 euros by four.')
    """

    prompt: str
    """The user's message to the model."""
    expect: Any = None
    """The expected call or list of calls: `ToolCall` or objects with `name` and `arguments`;
    None if no call is expected. After `__init__` it is a tuple of `ExpectedCall`, or None."""
    forbid: Sequence[str] = field(default=(), kw_only=True)
    """Names of tools that must not be called."""
    match: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """The rules by which fields are compared, by path (`total`, `guest.name`, `items[].price`).
    Without a rule, the field must be equal JSON, and an omitted argument equals its default. Rules:
    "approx" (numbers; {"approx": 0.01} is a relative tolerance), "regex" (the expected value, or
    {"regex": "^Par"}), "any", "contains", "subset" (more keys or items are allowed), "unordered" (a
    list in any order). {"*": "any"} allows arguments that the case does not name."""
    name: str | None = field(default=None, kw_only=True)
    """The name in reports; the prompt if left out."""
    tags: Sequence[str] = field(default=(), kw_only=True)
    """Words to group cases by."""
    kept: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    """Fields of a pydantic-evals file that toolbench does not use, such as evaluators and other
    metadata. `Cases.write` writes them back."""

    def __post_init__(self) -> None:
        prompt: Any = self.prompt
        if not isinstance(prompt, str) or not prompt.strip():
            msg = f"The prompt of a case must be a non-empty string, not {clip(self.prompt)}."
            raise CaseError(msg)
        name: Any = self.name
        if name is not None and not isinstance(name, str):
            msg = f"The name of a case must be a string, not {clip(name)}: put it in quotes."
            raise CaseError(msg)
        if not isinstance(self.match, Mapping):
            msg = f"match is an object of fields and rules, not {clip(self.match)}."
            raise CaseError(msg)
        self._set("expect", _calls(self.expect))
        self._set("forbid", _names("forbid", self.forbid))
        self._set("tags", _names("tags", self.tags))
        self._set("match", {f: r.written for f, r in rules_of(self.match).items()})
        self._check_fields()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_fields(self) -> None:
        argument_names: set[str] = set()
        for call in self.calls:
            argument_names.update(call.arguments)
        for path, rule in self.rules.items():
            if path == "*" and rule.kind != "any":
                msg = '"*" means all arguments that the case does not name: its rule must be "any".'
                raise CaseError(msg)
            top = path.partition(".")[0].partition("[")[0]
            if rule.needs_expected and top not in argument_names:
                msg = (
                    f"match has a rule for {path!r}, and no expected call has that argument."
                    f"{did_you_mean(top, argument_names)}"
                )
                raise CaseError(msg)
            if rule.kind == "regex" and rule.value is None:
                self._check_patterns(path)
        both = {call.name for call in self.calls} & set(self.forbid)
        if both:
            msg = f"{', '.join(sorted(both))} is expected and forbidden in one case."
            raise CaseError(msg)

    def _check_patterns(self, field_name: str) -> None:
        """Check that the expected values of the argument *field_name* are regular expressions."""
        for call in self.calls:
            if field_name in call.arguments:
                FieldRule.of({"regex": call.arguments[field_name]})

    @property
    def calls(self) -> tuple[ExpectedCall, ...]:
        """The expected calls; empty if no call is expected."""
        return self.expect or ()

    @cached_property
    def rules(self) -> dict[str, FieldRule]:
        """The rules of `match` as `FieldRule` objects, by the path of the field."""
        return rules_of(self.match)

    @property
    def title(self) -> str:
        """The name in reports, with the secrets of the expected calls masked."""
        return self._redactor.text(self.name or self.prompt)

    @property
    def masked_prompt(self) -> str:
        """The prompt to show, with the secrets of the expected calls masked."""
        return self._redactor.text(self.prompt)

    @cached_property
    def _redactor(self) -> Redactor:
        """The redactor for expected arguments whose names suggest a secret, such as `password`."""
        secrets: list[str] = []
        for call in self.calls:
            secrets += BY_NAMES.secrets_in(call.arguments)
        return Redactor(secrets)

    def __repr__(self) -> str:
        facts = (
            f"{each.name}={self._redactor.value(getattr(self, each.name))!r}"
            for each in fields(self)
            if each.repr
        )
        return f"Case({', '.join(facts)})"

    @property
    def is_proposal(self) -> bool:
        """Whether a program wrote the case, and no user has confirmed it yet."""
        return PROPOSAL in self.tags

    def confirmed(self) -> "Case":
        """Return a copy without the tag "proposal", after you have checked the case."""
        return replace(self, tags=tuple(t for t in self.tags if t != PROPOSAL))

    def to_dict(self) -> dict[str, Any]:
        """Return the case as JSON data, without empty fields."""
        calls = None if self.expect is None else [call.to_dict() for call in self.calls]
        rest = {
            "match": dict(self.match),
            "forbid": list(self.forbid),
            "tags": list(self.tags),
            "name": self.name,
        }
        fields = {key: value for key, value in rest.items() if value}
        return {"prompt": self.prompt, "expect": calls, **fields}


def _calls(expect: Any) -> tuple[ExpectedCall, ...] | None:
    if expect is None:
        return None
    is_many = isinstance(expect, Sequence) and not isinstance(expect, str)
    calls = tuple(_call(one) for one in (expect if is_many else [expect]))
    return calls or None


def _call(expect: Any) -> ExpectedCall:
    if isinstance(expect, ExpectedCall | ToolCall):
        return ExpectedCall(expect.name, plain(dict(expect.arguments)))
    name: Any = None
    arguments: Any = None
    if isinstance(expect, Mapping) and set(expect) <= {"name", "arguments"}:
        name, arguments = expect.get("name"), expect.get("arguments", {})
    if not isinstance(name, str) or not name or not isinstance(arguments, Mapping):
        msg = (
            'An expected call is a ToolCall or {"name": "tool", "arguments": {...}}, not '
            f"{clip(expect)}. None means that no tool should be called."
        )
        raise CaseError(msg)
    return ExpectedCall(name, plain(dict(arguments)))


def _names(field_name: str, value: Any) -> tuple[str, ...]:
    names: Any = [value] if isinstance(value, str) else value
    try:
        name_list: tuple[Any, ...] = tuple(names)
    except TypeError:
        name_list = (None,)
    if not all(isinstance(name, str) and name for name in name_list):
        msg = f"{field_name} is a list of names, not {clip(value)}."
        raise CaseError(msg)
    return name_list
