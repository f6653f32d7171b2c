"""The ways to call a tool: with an action, a dict or keywords; and the tool as a function."""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from inspect import signature as signature_of
from typing import Any, Self

from toolbench.core.executor import FunctionExecutor
from toolbench.core.schema import Action, Observation
from toolbench.core.tool_advice import ToolClass
from toolbench.errors import indefinite

NOTHING: Any = ...
"""The value of the parameter `action` if no action is passed."""


def call_of(name: str, action: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the input of a call of the tool *name*: *action*, or the keywords if no action is passed.

    Raises:
        TypeError: If the call has both an action and keywords.
    """
    if action is NOTHING:
        return arguments
    if not arguments:
        return action
    keywords = ", ".join(arguments)
    kind = indefinite(type(action).__name__)
    msg = (
        f"{name} takes its arguments in one form: "
        f"give either {kind} or the keywords {keywords}, not both."
    )
    raise TypeError(msg)


class CallForms:
    """A base class of tools, with two functions: the user's own, and one that calls the tool."""

    name: str
    description: str
    action_type: type[Action]
    observation_type: type[Observation] | None
    executor: Any

    def __new__(cls, *arguments: Any, **fields: Any) -> Self:
        """Make a tool of *fields*; a class without its own `__init__` takes none by position.

        Raises:
            TypeError: If there are *arguments*, as in a call of a tool. The message has the code that
                makes a tool of the class.
        """
        kind: Any = cls
        author = next(c for c in kind.__mro__ if "__init__" in vars(c))
        if arguments and "__dataclass_fields__" in vars(author):
            raise TypeError(ToolClass(kind.name, kind).advice)
        return super().__new__(cls)

    def __call__(self, action: Any = ..., /, conversation: Any = None, **arguments: Any) -> Any:
        """Call the tool; see `ToolDefinition`."""
        raise NotImplementedError

    @property
    def function(self) -> Callable[..., Any]:
        """The function this tool was made from, unchanged: `split_bill.function(84, 4)`.

        Raises:
            AttributeError: If the tool was made from an executor object.
        """
        if isinstance(self.executor, FunctionExecutor):
            return self.executor.function
        executor = indefinite(type(self.executor).__name__)
        msg = f"{self.name} was made from {executor}, not from a function: use to_callable()."
        raise AttributeError(msg)

    def to_callable(self) -> Callable[..., Any]:
        """Return the tool as a plain function, for libraries that take functions as tools.

        The function has the name, the description and the typed parameters of the tool, and
        returns the observation. Each call is checked and recorded like any call of the tool.

        Arguments can be passed by keyword, or by position in the order of the schema. Keyword-only
        are: arguments that are keyword-only in the tool's own function; and a required argument
        after an optional one, with all arguments after it.
        """

        def call(*positional: Any, **arguments: Any) -> Any:
            ordered = signature.bind_partial(*positional).arguments if positional else {}
            if twice := ordered.keys() & arguments.keys():
                msg = f"{self.name}() got multiple values for argument {min(twice)!r}"
                raise TypeError(msg)
            return self({**ordered, **arguments})

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
        """Return the arguments as parameters of a function.

        `**arguments` takes the arguments whose names Python does not allow. It also takes all
        further arguments, if the tool accepts arguments of any name.
        """
        kind: Any = Parameter.POSITIONAL_OR_KEYWORD
        by_name = self._names_by_keyword()
        parameters, others = list[Parameter](), False
        for attribute, field in self.action_type.model_fields.items():
            name = field.alias or attribute
            if not name.isidentifier():
                others = True
                continue
            default = Parameter.empty if field.is_required() else field.get_default()
            annotation = field.annotation
            follows = parameters and parameters[-1].default is not Parameter.empty
            if name in by_name or (follows and field.is_required()):
                kind = Parameter.KEYWORD_ONLY
            parameters.append(Parameter(name, kind, default=default, annotation=annotation))
        if others or self.action_type.model_config.get("extra") == "allow":
            rest = "arguments"
            while any(parameter.name == rest for parameter in parameters):
                rest += "_"
            parameters.append(Parameter(rest, Parameter.VAR_KEYWORD, annotation=Any))
        return parameters

    def _names_by_keyword(self) -> frozenset[str]:
        """Return the parameters that the tool's own function takes only by keyword."""
        function = getattr(self.executor, "function", None)
        try:
            parameters = signature_of(function).parameters if function else {}
        except (TypeError, ValueError):
            # The function has no readable signature
            return frozenset()
        kind = Parameter.KEYWORD_ONLY
        return frozenset(n for n, p in parameters.items() if p.kind is kind)
