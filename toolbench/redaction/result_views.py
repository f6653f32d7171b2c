"""Hide secrets in the notebook views that an observation class itself defines."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from toolbench.redaction.redactor import results

_MIMEBUNDLE = "_repr_mimebundle_"
KIND_OF_REPR = {
    _MIMEBUNDLE: None,
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}
"""IPython's methods that show an object, with the mime type that each returns; None for a bundle."""


def hiding_repr(kind: str | None, show: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does the same as *show*, but hides the secrets of the object that is shown.

    Args:
        kind: The mime type that *show* returns; None if it returns a mime bundle.
        show: The method of a class.
    """

    @wraps(show)
    def shown(result: Any, *args: Any, **options: Any) -> Any:
        view, redactor = show(result, *args, **options), results.redactor_of(result)
        data, more = view if isinstance(view, tuple) and len(view) == 2 else (view, None)
        if kind is not None:
            data = redactor.bundle({kind: data})[kind]
        elif isinstance(data, Mapping):
            data = redactor.bundle(data)
        return (data, redactor.value(more)) if isinstance(view, tuple) else data

    return shown
