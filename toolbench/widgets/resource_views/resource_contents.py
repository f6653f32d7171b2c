"""The view of the contents of a resource."""

from typing import Any

from toolbench.core.schema import redactor_of
from toolbench.display.blocks import blocks_html
from toolbench.display.escape import Html
from toolbench.display.markdown import markdown_html
from toolbench.display.page import notice, section
from toolbench.mcp.apps.preview import app_in, preview
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.redaction.redactor import Redactor


def contents_html(observation: MCPResourceObservation, redactor: Redactor | None = None) -> Html:
    """Return the contents of *observation* as safe HTML. An app is shown as a preview.

    The secrets of the observation and the secrets that *redactor* knows are hidden.
    """
    html = redactor_of(observation).html(_html(observation))
    return Html(redactor.html(html) if redactor else html)


def _html(observation: MCPResourceObservation) -> Html:
    warnings = "".join(notice(text, "warning") for text in observation.warnings)
    app = app_in(observation)
    if app is not None:
        return Html(f'{warnings}<div class="toolbench-app">{preview(app)}</div>')
    texts = [b["resource"] for b in observation.blocks if _is_markdown(b)]
    if texts and len(texts) == len(observation.blocks):
        return Html(
            warnings + "".join(section("Markdown", markdown_html(t["text"])) for t in texts)
        )
    return Html(warnings + blocks_html(observation.content))


def _is_markdown(block: Any) -> bool:
    part = block.get("resource")
    return (
        isinstance(part, dict)
        and str(part.get("mimeType", "")).startswith("text/markdown")
        and isinstance(part.get("text"), str)
    )
