"""The fields of one case: the prompt, the expected calls, and the rules to compare calls."""

from collections.abc import Callable
from typing import Any

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.errors import CaseError
from toolbench.evals.case import Case
from toolbench.widgets.evaluation_views.call_fields import CallFields, Tools
from toolbench.widgets.evaluation_views.rule_rows import RuleRows
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts, put, show_if

_PROMPT = {
    "type": "object",
    "properties": {
        "prompt": {
            "type": "string",
            "title": "What the person says",
            "toolbench": {"widget": "textarea"},
        }
    },
    "required": ["prompt"],
}


class CaseFields:
    """The fields to type or change a case; `case()` returns the typed case."""

    def __init__(self, case: Case | None, tools: Tools, edited: Callable[[], None]) -> None:
        """Show *case*, or empty fields if it is None. *edited* is called after each change."""
        self._parts = parts = Parts()
        self._tools, self._edited = tools, edited
        self._kept = case.kept if case else {}
        self.is_changed = False
        """Whether something was typed or chosen."""
        values = _values(case)
        prompt = {"prompt": values.pop("prompt")} if "prompt" in values else None
        self._prompt = SchemaForm(_PROMPT, prompt)
        self._about = SchemaForm(_schema(tools, case), values or None)
        for form in (self._prompt, self._about):
            form.observe(lambda _: self._changed())
        self._rules = RuleRows(parts, case.match if case else {}, self._recheck)
        self._calls: list[CallFields] = []
        self._call_column = parts.column()
        self._rules_head = parts.html(Html("<strong>How arguments are compared</strong>"))
        self._more = parts.button("Expect one more call", tip="One answer may hold several calls")
        self._more.on_click(lambda _: self._add_call())
        self._wrong = parts.html()
        for call in (case.calls if case else ()) or (None,):
            self._calls.append(self._fields_of(call))
        self.widget = parts.column(
            *(self._prompt.widget, self._call_column, self._more),
            *(self._rules_head, self._rules.widget),
            *(self._about.widget, self._wrong),
        )
        self._arrange()

    def _fields_of(self, call: Any) -> CallFields:
        return CallFields(self._parts, self._tools, call, self._rules.may_lack, self._changed)

    def _add_call(self) -> None:
        self._calls.append(self._fields_of(None))
        self._arrange()

    def _arrange(self) -> None:
        """Show the calls, and a rule for each of their arguments."""
        widgets = [call.widget for call in self._calls]
        if self._call_column.children != tuple(widgets):
            self._call_column.children = widgets
        has_call = any(call.name for call in self._calls)
        show_if(self._more, is_shown=has_call)
        show_if(self._rules_head, is_shown=has_call)
        self._rules.show(name for call in self._calls for name in call.arguments)

    def _recheck(self) -> None:
        """Check the calls again, because the rules decide whether an argument may be missing."""
        self._changed()
        for call in self._calls:
            call.recheck()

    def _changed(self) -> None:
        self.is_changed = True
        self._arrange()
        put(self._wrong, Html(""))
        self._edited()

    def case(self) -> Case | None:
        """Return the typed case. If a field is wrong, mark the field and return None."""
        for form in (self._prompt, self._about):
            if form.errors or form.blocked:
                form.reveal_errors(focus=True)
                return None
        if any([call.is_wrong for call in self._calls]):  # noqa: C419 - each marks its fields
            return None
        values = self._about.value
        calls = [call.call for call in self._calls if call.call is not None]
        try:
            return Case(
                self._prompt.value["prompt"],
                calls or None,
                forbid=values.get("forbid", ()),
                match=self._rules.match if calls else {},
                name=values.get("name") or None,
                tags=values.get("tags", ()),
                kept=self._kept,
            )
        except CaseError as error:
            put(self._wrong, notice(str(error), "danger"))
            return None

    def close(self) -> None:
        """Close all widgets."""
        for call in self._calls:
            call.close()
        self._about.close()
        self._prompt.close()
        self._parts.close()


def _values(case: Case | None) -> dict[str, Any]:
    if case is None:
        return {}
    values = case.to_dict()
    del values["expect"]
    values.pop("match", None)
    return values


def _schema(tools: Tools, case: Case | None) -> dict[str, Any]:
    names = [*dict.fromkeys([*tools, *(case.forbid if case else ())])]
    forbid = {
        "type": "array",
        "title": "Forbidden tools",
        "description": "Tools that must not be called.",
        "uniqueItems": True,
        "items": {"enum": names},
    }
    properties = {
        "name": {
            "type": "string",
            "title": "Name of the case",
            "description": "The name in reports. Without a name, reports show the prompt.",
        },
        **({"forbid": forbid} if names else {}),
        "tags": {
            "type": "array",
            "title": "Tags of the case",
            "items": {"type": "string"},
        },
    }
    return {"type": "object", "properties": properties}
