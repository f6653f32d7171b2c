"""Access to variables of the notebook, so that cells can use the values of a panel."""

import sys
from collections.abc import MutableMapping
from itertools import count
from keyword import iskeyword
from typing import Any

from toolbench.runs.kernel import running_shell


class Variables:
    """The variables of the notebook's cells. Any thread may access them."""

    def __init__(self, namespace: MutableMapping[str, Any] | None = None) -> None:
        """Use the variables in *namespace* or, if it is None, those of the notebook."""
        if namespace is None:
            shell = running_shell()
            if shell is None:
                namespace = vars(sys.modules["__main__"])
            else:
                namespace = shell.user_ns
        self._namespace = namespace

    def name_of(self, value: object) -> str | None:
        """Return the name of a variable that holds the object *value*; None if there is none.

        Names that begin with `_` are ignored, such as `_3`, which IPython gives to an output.
        """
        # Threads may add variables meanwhile
        for name, other in list(self._namespace.items()):
            if other is value and not name.startswith("_"):
                return str(name)
        return None

    def put_anew(self, stem: str, value: object) -> str:
        """Store *value* in a new variable, and return the variable's name.

        The name is *stem* with a number that no variable has yet, such as `fork_2`.
        """
        numbers = count(2)
        name = f"{stem}_{next(numbers)}"
        while name in self._namespace:
            name = f"{stem}_{next(numbers)}"
        self._namespace[name] = value
        return name

    def problem_of(self, name: str, kind: type) -> str:
        """Return why *name* cannot be the name of a variable for an object of the class *kind*.

        Return "" if *name* is allowed. The name of an existing variable is allowed only if the
        variable contains an object of the class *kind*, which may be overwritten.
        """
        if not name.isidentifier() or iskeyword(name):
            return f"{name!r} cannot be the name of a variable: choose another."
        if name in self._namespace and not isinstance(self._namespace[name], kind):
            return f"{name} holds something else: choose another name."
        return ""

    def put(self, name: str, value: object) -> None:
        """Store *value* in the variable *name*."""
        self._namespace[name] = value


def variable_name(text: str) -> str:
    """Turn *text*, such as the name of a tool, into the name of a variable."""
    name = ""
    for letter in text:
        if f"_{letter}".isidentifier():
            name += letter
        else:
            name += "_"
    if iskeyword(name) or not name.isidentifier():
        name = f"_{name}"
    return name
