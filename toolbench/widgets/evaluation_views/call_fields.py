"""The fields of one expected call: a list to choose the tool, and the form of the tool."""

from collections.abc import Callable, Mapping
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.errors import Problem
from toolbench.evals.match import ExpectedCall
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts

NO_CALL = "none: no call is expected"
_ANY_OBJECT = {"type": "object"}

Tools = Mapping[str, ToolDefinition[Any, Any]]


class CallFields:
    """A list of tools, and below it the form of the chosen tool."""

    def __init__(
        self,
        parts: Parts,
        tools: Tools,
        call: ExpectedCall | None,
        may_lack: Callable[[str], bool],
        edited: Callable[[], None],
    ) -> None:
        """Show *call*; None means that no call is expected.

        Args:
            parts: The factory of the widgets.
            tools: The tools to choose from, by name. A *call* of another tool can be shown too.
            call: The expected call.
            may_lack: A function that gets the name of an argument, and tells whether the argument
                needs no value.
            edited: A function that is called after each change.
        """
        self._tools, self._may_lack, self._edited = tools, may_lack, edited
        other = [call.name] if call is not None and call.name not in tools else []
        self._tool = parts.chooser("Expected tool", [NO_CALL, *tools, *other])
        self._tool.value = NO_CALL if call is None else call.name
        self._tool.observe(lambda _: self._choose({}), "value")
        self._place = parts.column()
        self.form: SchemaForm | None = None
        self.widget = parts.column(self._tool, self._place)
        self._show(dict(call.arguments) if call is not None else None)

    @property
    def name(self) -> str | None:
        """The name of the expected tool; None if no call is expected."""
        name: str = self._tool.value
        return None if name == NO_CALL else name

    @property
    def arguments(self) -> list[str]:
        """The names of all arguments of the tool, and other names that have a value in the form."""
        tool = self._tools.get(self.name or "")
        known = [] if tool is None else tool.input_node.properties
        filled = [] if self.form is None else self.form.value
        return [*dict.fromkeys([*known, *filled])]

    @property
    def call(self) -> dict[str, Any] | None:
        """The name and the arguments of the expected call, for `Case`; None if no call is expected."""
        if self.form is None:
            return None
        return {"name": self.name, "arguments": self.form.value}

    @property
    def is_wrong(self) -> bool:
        """Whether the form has an invalid value. To ask this also marks the invalid values."""
        if self.form is None or not (self.form.errors or self.form.blocked):
            return False
        self.form.reveal_errors(focus=True)
        return True

    def recheck(self) -> None:
        """Check the form again, because a rule that compares arguments has changed."""
        if self.form is not None:
            self.form.show_problems([])

    def _choose(self, value: dict[str, Any]) -> None:
        self._show(value)
        self._edited()

    def _show(self, value: dict[str, Any] | None) -> None:
        old, self.form = self.form, None
        tool = self._tools.get(self.name or "")
        if self.name is not None:
            schema = _ANY_OBJECT if tool is None else tool.input_schema
            self.form = SchemaForm(schema, value or None, validate=self._problems)
            self.form.observe(lambda _: self._edited())
        self._place.children = () if self.form is None else (self.form.widget,)
        if old is not None:
            old.close()

    def _problems(self, value: dict[str, Any]) -> list[Problem]:
        """Return the problems of *value*, the arguments of the call.

        A missing argument is no problem if its rule permits this.
        """
        tool = self._tools.get(self.name or "")
        if tool is None:
            return []
        return [
            problem
            for problem in tool.problems(value)
            if not problem.path
            or problem.path[0] in value
            or not self._may_lack(str(problem.path[0]))
        ]

    def close(self) -> None:
        """Close the form."""
        if self.form is not None:
            self.form.close()
