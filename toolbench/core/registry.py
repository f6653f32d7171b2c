"""The registry of tools: find tools by name and create them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import getattr_static, isclass, signature
from threading import RLock
from typing import Any
from warnings import warn

from toolbench.core.declarations import Unusable
from toolbench.core.executor import ToolExecutor, home_of, innermost
from toolbench.core.kinds import place_of
from toolbench.core.schema import Action
from toolbench.core.spec import Tool
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition, after_reload, hooks
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import (
    RegistrationError,
    ToolbenchError,
    ToolNotFoundError,
    did_you_mean,
    indefinite,
)

Factory = Callable[..., Sequence[ToolDefinition[Any, Any]]]
Registered = ToolDefinition[Any, Any] | type[ToolDefinition[Any, Any]] | Factory


class ToolRegistry:
    """A registry of tools by name, for use from any thread.

    Tools are registered as recipes. A recipe is a tool with an executor, a ToolDefinition subclass
    that defines `create`, or a function with the parameters of `create`.

    Examples:
        >>> from toolbench import ToolRegistry, tool
        >>> @tool
        ... def convert(celsius: float) -> float:
        ...     "Convert a temperature to Fahrenheit."
        ...     return celsius * 9 / 5 + 32
        >>> registry = ToolRegistry()
        >>> registry.register("convert", convert, aliases=["to_fahrenheit"])
        >>> list(registry)
        ['convert']
        >>> registry.resolve("to_fahrenheit")[0](celsius=100).text
        '212.0'
    """

    def __init__(self) -> None:
        """Make an empty registry."""
        self._recipes: dict[str, Registered] = {}
        self._aliases: dict[str, str] = {}
        self._lock = RLock()
        self.find_in_notebook: Callable[[str], ToolDefinition[Any, Any]] | None = None
        """Finds a tool by name in the notebook, on servers and here; set by `%load_ext`."""
        self.find_at_server: Callable[[ToolAddress, Any], ToolDefinition[Any, Any]] | None = None
        """Finds the tool at an address, if its server has it; set when a server connects.

        The second argument is the tool that was last seen at the address, or None.
        """

    def register(self, name: str, recipe: Registered, *, aliases: Sequence[str] = ()) -> None:
        """Register *recipe* as *name*; warn if it replaces a recipe from other code.

        Args:
            name: The name under which the recipe is found and listed.
            recipe: A tool, a ToolDefinition subclass or a function; see the class.
            aliases: Other names under which the recipe is found, but not listed. If a tool is
                registered under such a name, that tool is found instead.

        Raises:
            RegistrationError: If the name is blank, a tool has no executor, or a class does not
                define `create`.
        """
        self._enter(name, recipe, aliases)

    def _enter(self, name: str, recipe: Registered, aliases: Sequence[str]) -> None:
        value: Any = name
        if not isinstance(value, str) or not value.strip():
            msg = f"The name of a registered tool must be a string, not {name!r}."
            raise RegistrationError(msg)
        _check(name, recipe)
        with self._lock:
            old = self._recipes.get(name)
            self._recipes[name] = recipe
            self._aliases |= dict.fromkeys(aliases, name)
        hooks.definitions.changed()
        if old is None:
            return
        # A cell that runs again defines its recipe at the same places
        for place, former in zip(_places(recipe), _places(old), strict=True):
            if place != former:
                # Where `register` or `register_tool` was called
                warn(f"Tool {name!r}: {place} replaces {former}.", stacklevel=3)
                return

    def unregister(self, name: str) -> None:
        """Remove the recipe with this *name*, and its aliases; do nothing if there is none."""
        with self._lock:
            self._recipes.pop(name, None)
            self._aliases = {a: n for a, n in self._aliases.items() if n != name}
        hooks.definitions.changed()

    def clear(self) -> None:
        """Remove all recipes and aliases."""
        with self._lock:
            self._recipes.clear()
            self._aliases.clear()
        hooks.definitions.changed()

    def resolve(self, spec: Tool | str, conv_state: Any = None) -> list[ToolDefinition[Any, Any]]:
        """Return the tools for *spec*, which is the name of a tool or a `Tool`.

        *conv_state* is the state of the conversation for which the tools are created. If it is left
        out, `create` gets a new state, whose working directory is the current directory.

        Raises:
            ToolNotFoundError: If nothing is registered under that name.
            RegistrationError: If the recipe does not accept the parameters in *spec*, or does not
                return a sequence of tools. A recipe that is itself a tool accepts no parameters.
        """
        if isinstance(spec, str):
            # A `Tool` takes five times as long to make as the rest takes
            name, params = spec, dict[str, Any]()
        else:
            name, params = spec.name, spec.params
        recipe: Any = _newest(self.recipe(name))
        if isinstance(recipe, ToolDefinition):
            if params:
                msg = (
                    f"{name!r} is registered as a finished tool, which takes no parameters: "
                    f"leave out {', '.join(params)}."
                )
                raise RegistrationError(msg)
            return [recipe]
        create = getattr(recipe, "create", recipe)
        _check_parameters(name, create, params)
        state = conv_state
        if state is None:
            state = ConversationState()
        tools: Any = create(conv_state=state, **params)
        if not isinstance(tools, Sequence) or not all(
            isinstance(tool, ToolDefinition) for tool in tools
        ):
            msg = f"create() of {name!r} must return a sequence of tools, not {tools!r}."
            raise RegistrationError(msg)
        return list(tools)

    def usable(self) -> list[str]:
        """Return the names of the registered tools that can work on this machine."""
        return [name for name in self if self.is_usable(name)]

    def is_usable(self, name: str) -> bool | Unusable:
        """Tell whether the tool *name* can work on this machine.

        If it cannot, the result is false, and its text gives the reason. A tool is also unusable if
        its own check raises an error, or if its name is not registered.
        """
        try:
            recipe = _newest(self.recipe(name))
        except ToolNotFoundError as error:
            return Unusable(str(error))
        # A function has no check
        if not hasattr(recipe, "is_usable"):
            return True
        try:
            usable: bool | Unusable = recipe.is_usable()
            return usable
        except Exception as error:  # noqa: BLE001 - a broken tool must not hide others
            return Unusable(f"{type(error).__name__}: {error}")

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(sorted(self._recipes))

    def __len__(self) -> int:
        return len(self._recipes)

    def __contains__(self, name: object) -> bool:
        return name in self._recipes or name in self._aliases

    def __repr__(self) -> str:
        return f"ToolRegistry({', '.join(self)})"

    def recipe(self, name: str) -> Registered:
        """Return the recipe that is registered under *name*.

        Raises:
            ToolNotFoundError: If nothing is registered under *name*.
        """
        with self._lock:
            recipe = self._recipes.get(name)
            if recipe is None:
                recipe = self._recipes.get(self._aliases.get(name, name))
        if recipe is None:
            hint = did_you_mean(name, self) or f" Registered: {', '.join(self) or 'none'}."
            msg = f"No tool is registered as {name!r}.{hint}"
            raise ToolNotFoundError(msg)
        return recipe


def _newest(recipe: Any) -> Any:
    """Return the newest tool or class that was defined where *recipe* was defined."""
    if isinstance(recipe, ToolDefinition):
        return recipe.latest()
    if isinstance(recipe, type) and issubclass(recipe, ToolDefinition):
        return recipe.newest()
    return recipe


def _check(name: str, recipe: Any) -> None:
    if isinstance(recipe, ToolDefinition):
        if recipe.executor is None:
            msg = f"Tool {name!r} has no executor: set_executor() before registering it."
            raise RegistrationError(msg)
    elif isinstance(recipe, type):
        _check_class(recipe)
    elif isinstance(recipe, ToolExecutor) or not callable(recipe):
        msg = f"{name!r} must be a tool, a ToolDefinition subclass or a function, not {recipe!r}."
        raise RegistrationError(msg)


def _check_class(recipe: type) -> None:
    if not issubclass(recipe, ToolDefinition):
        msg = f"{recipe.__name__} cannot be registered: it is not a ToolDefinition."
        raise RegistrationError(msg)
    create = getattr_static(recipe, "create")
    inherited = getattr_static(ToolDefinition, "create")
    if create is inherited or getattr(create, "__isabstractmethod__", False):
        msg = f"{recipe.__name__} cannot be registered: it does not define create()."
        raise RegistrationError(msg)
    if not isinstance(create, classmethod | staticmethod):
        msg = f"{recipe.__name__} cannot be registered: create() lacks @classmethod."
        raise RegistrationError(msg)


def _check_parameters(name: str, create: Any, params: Mapping[str, Any]) -> None:
    try:
        takes = signature(create)
    except (TypeError, ValueError):
        # A builtin without a signature
        return
    try:
        takes.bind(conv_state=None, **params)
    except TypeError as error:
        names = ", ".join(("conv_state", *params))
        msg = f"create() of {name!r} does not take ({names}): {error}."
        raise RegistrationError(msg) from None


def _places(recipe: Any) -> tuple[str, str]:
    """Return where the executor of *recipe* and its action class are defined in the code."""
    if not isinstance(recipe, ToolDefinition):
        if not isclass(recipe):
            recipe = innermost(recipe)
        return place_of(recipe), place_of(recipe)
    if recipe.source != "native":
        return recipe.source, recipe.name
    return home_of(recipe.executor), place_of(recipe.action_type)


default_registry = ToolRegistry()
"""The registry behind `register_tool`, `resolve_tool` and `list_registered_tools`."""


def register_tool(name: str, recipe: Registered) -> None:
    """Register a tool, a ToolDefinition subclass or a function; see `ToolRegistry.register`.

    Examples:
        >>> from toolbench import register_tool, run_tool, tool
        >>> @tool
        ... def roll(sides: int) -> str:
        ...     "Roll a die."
        ...     return f"one of {sides}"
        >>> register_tool("roll", roll)
        >>> run_tool("roll", sides=6).text
        'one of 6'
    """
    default_registry._enter(name, recipe, ())


def resolve_tool(spec: Tool | str, conv_state: Any = None) -> list[ToolDefinition[Any, Any]]:
    """Return the tools that *spec* describes; see `ToolRegistry.resolve`.

    Examples:
        >>> from toolbench import Tool, register_tool, resolve_tool
        >>> from toolbench.tools import FileEditorTool
        >>> register_tool("editor", FileEditorTool)
        >>> [editor] = resolve_tool(Tool(name="editor", params={"workspace_root": "."}))
        >>> editor.title
        'File editor'
    """
    return default_registry.resolve(spec, conv_state)


def find_tool(name: str) -> ToolDefinition[Any, Any]:
    """Return the tool called *name*.

    After `%load_ext toolbench`, this is the tool that `%tool` finds. Before that, it is the tool
    that is registered under *name*.

    Raises:
        ToolNotFoundError: If there is no such tool.
        ToolbenchError: If several tools are registered under the name.
    """
    if default_registry.find_in_notebook is None:
        return resolve_one(name)
    return default_registry.find_in_notebook(name)


def find_tools(
    spec: Tool | str, conv_state: Any = None
) -> tuple[list[ToolDefinition[Any, Any]], bool]:
    """Return the tools that *spec* describes, and whether the caller must close them.

    The caller must close tools that were created for this call. If no tool is registered under the
    name, the tool that `find_tool` finds is returned instead.

    Raises:
        ToolNotFoundError: If there is no such tool.
    """
    if isinstance(spec, str):
        spec = Tool.model_construct(name=spec)
    if spec.name not in default_registry and not spec.params:
        return [find_tool(spec.name)], False
    is_shared = isinstance(default_registry.recipe(spec.name), ToolDefinition)
    return resolve_tool(spec, conv_state), not is_shared


def the_tool(tool: Any) -> ToolDefinition[Any, Any]:
    """Return the tool for *tool*, which may be a tool, a name, or a spec (`Tool`).

    If the module of a tool was reloaded, the tool that replaced it is returned.

    Raises:
        ToolNotFoundError: If there is no such tool.
        ToolbenchError: If several tools have the name or spec.
        TypeError: If *tool* is not a tool, a name or a spec.
    """
    if isinstance(tool, ToolDefinition):
        return after_reload(tool)
    if isinstance(tool, str):
        return find_tool(tool)
    if isinstance(tool, Tool):
        if tool.params:
            return resolve_one(tool)
        return find_tool(tool.name)
    if isinstance(tool, Action):
        hint = f"an action comes second, after its tool: (tool, {type(tool).__name__}(...))"
    elif isclass(tool) and issubclass(tool, ToolDefinition):
        hint = f"create one from the class: [tool] = {tool.__name__}.create()"
    elif callable(tool):
        hint = "make one from the function with @tool"
    elif isinstance(tool, list) and any(isinstance(t, ToolDefinition) for t in tool):
        hint = "it contains tools, and [0] is the first of them"
    else:
        hint = "give the tool itself or its name"
    what = indefinite(type(tool).__name__)
    if isclass(tool):
        what = f"the class {tool.__name__}"
    msg = f"This is not a tool but {what}: {hint}."
    raise TypeError(msg)


def resolve_one(name: str | Tool) -> ToolDefinition[Any, Any]:
    """Return the only tool that is registered under *name*, which is a name or a spec (`Tool`).

    Raises:
        ToolNotFoundError: If nothing is registered under that name.
        ToolbenchError: If several tools are registered under *name*.
    """
    tools = resolve_tool(name)
    if len(tools) != 1:
        names = ", ".join(tool.name for tool in tools)
        if isinstance(name, Tool):
            name = name.name
        msg = f"{name!r} makes {len(tools)} tools ({names}): pass the one you mean."
        raise ToolbenchError(msg)
    return tools[0]


def list_registered_tools() -> list[str]:
    """Return the names of all registered tools.

    Examples:
        >>> from toolbench import list_registered_tools, register_tool
        >>> from toolbench.tools import GlobTool, GrepTool
        >>> register_tool("glob", GlobTool)
        >>> register_tool("grep", GrepTool)
        >>> list_registered_tools()
        ['glob', 'grep']
    """
    return list(default_registry)


def list_usable_tools() -> list[str]:
    """Return the names of the registered tools that can work on this machine."""
    return default_registry.usable()
