"""The forms a call of a tool may have: an action, a dict, keywords; and the tool as a function."""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any
from warnings import warn

from toolbench.core.executor import FunctionExecutor
from toolbench.core.schema import Action, Observation
from toolbench.errors import indefinite

NOTHING: Any = ...
"""What the parameter `action` is where no action is given."""


def call_of(name: str, action: Any, arguments: Mapping[str, Any]) -> Any:
    """Return what a call of the tool *name* passes on: *action*, or else *arguments*.

    Raises:
        TypeError: If there are both.
    """
    if not arguments:
        return action
    if action is NOTHING:
        return arguments
    keywords = ", ".join(arguments)
    kind = indefinite(type(action).__name__)
    msg = (
        f"{name} takes its arguments in one form: "
        f"not {kind} and the keywords {keywords} beside it."
    )
    raise TypeError(msg)


class CallForms:
    """The tool as a function: the one it was made of, and one that calls it."""

    name: str
    description: str
    action_type: type[Action]
    observation_type: type[Observation] | None
    executor: Any

    def __call__(
        self, action: Any = ..., /, conversation: Any = None, **arguments: Any
    ) -> Any:
        """Call the tool; see `ToolDefinition`."""
        raise NotImplementedError

    @property
    def function(self) -> Callable[..., Any]:
        """The function this tool was made of, unchanged: `split_bill.function(84, 4)`.

        Raises:
            AttributeError: If the tool was made of an executor object.
        """
        if isinstance(self.executor, FunctionExecutor):
            return self.executor.function
        executor = indefinite(type(self.executor).__name__)
        msg = f"{self.name} is made of no function but of {executor}: to_callable() gives one."
        raise AttributeError(msg)

    def to_callable(self) -> Callable[..., Any]:
        """Return the tool as a plain function, for libraries that take functions as tools.

        It has the name, the description and the typed parameters of the tool, takes its
        arguments by keyword, and returns the observation. A call of it is a call of the tool:
        checked, and recorded where runs are.
        """

        def call(**arguments: Any) -> Any:
            return self(arguments)

        parameters = list(self._signature_parameters())
        result = self.observation_type or Observation
        call.__name__ = call.__qualname__ = self.name
        call.__doc__ = self.description
        call.__annotations__ = {
            **{p.name: p.annotation for p in parameters},
            "return": result,
        }
        signature = Signature(parameters, return_annotation=result)
        setattr(call, "__signature__", signature)  # noqa: B010 - mypy knows no such attribute
        return call

    def _signature_parameters(self) -> list[Parameter]:
        """The arguments as parameters; those whose name Python does not take are in `**`."""
        kind = Parameter.KEYWORD_ONLY
        parameters, others = [], False
        for attribute, field in self.action_type.model_fields.items():
            name = field.alias or attribute
            if not name.isidentifier():
                others = True
                continue
            default = Parameter.empty if field.is_required() else field.get_default()
            annotation = field.annotation
            parameters.append(
                Parameter(name, kind, default=default, annotation=annotation)
            )
        if others or self.action_type.model_config.get("extra") == "allow":
            parameters.append(
                Parameter("arguments", Parameter.VAR_KEYWORD, annotation=Any)
            )
        return parameters


def renamed_action(arguments: Mapping[str, Any], action_type: type[Action]) -> bool:
    """Tell whether *arguments* are `action=...` of an older version; warn if they are."""
    names = {f.alias or name for name, f in action_type.model_fields.items()}
    if set(arguments) != {"action"} or "action" in names:
        return False
    warn(
        "tool(action=...) ends with the next version: pass the action by position.",
        DeprecationWarning,
        stacklevel=3,
    )
    return True
