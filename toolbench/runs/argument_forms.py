"""The arguments of a call, and the JSON form of those that were sent as Python objects, such as a date.

The action of the call knows this form best; without an action, it is made by the types of the values.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic import SecretBytes, SecretStr
from pydantic_core import to_jsonable_python

from toolbench.core.schema import Action, Schema
from toolbench.values import argument_name, as_sent, is_json, is_readable


def arguments_of(call: Any) -> dict[str, Any]:
    """Return the arguments of *call*, an action or a mapping. Secrets in them are not hidden yet."""
    if not isinstance(call, Action):
        return dict(call) if isinstance(call, Mapping) else {}
    arguments = call.to_arguments()
    secrets = {
        field.alias or name: value
        for name, field in type(call).model_fields.items()
        if isinstance(value := getattr(call, name, None), SecretStr | SecretBytes)
    }
    return arguments | {k: v for k, v in secrets.items() if k in arguments}


def forms_by_action(action: Action, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON form of each of *arguments* that holds Python objects, as *action* dumps it.

    An argument is left out if *action* cannot dump it as JSON, or if it is an iterator, which only
    the executor may read. Secrets are not hidden yet.
    """
    names = [name for name, value in arguments.items() if not is_json(value)]
    if not names or type(action).to_arguments is not Schema.to_arguments:
        # An action of the latter kind has its arguments in other fields
        return {}
    fields = {argument_name(action, f): f for f in type(action).model_fields}
    forms = dict[str, Any]()
    for name in names:
        field = fields.get(name, name)
        # An object without a JSON form, or a user's code
        with suppress(Exception):
            if is_readable(getattr(action, field)):
                dump = action.model_dump(
                    mode="json",
                    by_alias=True,
                    include={field},
                    exclude_unset=True,
                    warnings=False,
                )
                [forms[name]] = dump.values()
    return forms


def form_by_type(value: Any) -> Any:
    """Return the JSON form of *value* by its own types, without an action; *value* itself if it has none."""
    form = as_sent(value)
    # An object without a JSON form, or a user's code
    with suppress(Exception):
        if not is_json(form) and is_readable(form):
            return to_jsonable_python(form, bytes_mode="base64")
    return form
