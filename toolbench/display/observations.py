"""How an observation looks: to a person, to the model, and in one card where they read the same."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rich.console import RenderableType

from toolbench.core.coercion.coercion import masked_observation
from toolbench.core.content import Content, TextContent
from toolbench.core.schema import Action, Observation
from toolbench.display.blocks import block_views, blocks_html, blocks_text
from toolbench.display.caps import cap_joined
from toolbench.display.card_html import Card, cards_html
from toolbench.display.escape import Html, visible
from toolbench.display.json_tree import json_html, parse_json
from toolbench.display.page import fold, section
from toolbench.display.render import to_html, to_text
from toolbench.display.tables import returned_frame, shape_text, table_html
from toolbench.plain import sentence, text_of
from toolbench.redaction.result_redactors import results
from toolbench.wording import counted

PERSON = "What a person sees"
MODEL = "What the model reads"
BOTH = "A person and the model read the same"
LIMIT = 60_000
"""Characters shown of a result, to each reader, unless a caller says otherwise."""

_LONG = 2_000_000  # characters of a result
_ASIDE = 1_000  # characters that a result may say beside its text


def visualized(thing: Action | Observation) -> RenderableType:
    """Return what *thing* shows of itself; one that cannot show itself says why."""
    try:
        return thing.visualize
    except Exception as error:  # noqa: BLE001 - a tool's own code: its result is not lost
        return f"visualize failed with {type(error).__name__}: {sentence(error)}\n{text_of(thing)}"


def read_by_model(observation: Observation) -> Sequence[Any]:
    """Return the blocks a model reads; one that cannot say them says why."""
    try:
        blocks: Any = observation.to_llm_content
    except Exception as error:  # noqa: BLE001 - a tool's own code: its result is not lost
        failed = f"to_llm_content failed with {type(error).__name__}: {sentence(error)}"
    else:
        if isinstance(blocks, list | tuple):
            return blocks
        failed = f"to_llm_content is no list of content: {type(blocks).__name__}"
    return Observation.from_text(failed, is_error=True).to_llm_content


def result_html(
    observation: Observation,
    action: Action | None = None,
    *,
    limit: int = LIMIT,
    later: int = 0,
) -> Html:
    """Return a result as cards: for a person and for the model, or one for both.

    Args:
        observation: The result.
        action: The call, shown above what a person sees of the result.
        limit: Characters shown of each of the two; the rest is counted.
        later: Rows of a table for a page that draws them as they are scrolled to.
    """
    blocks = read_by_model(observation)
    call = _call(action) if action is not None else ""
    looks = call + _looks(observation, limit, later)
    read = _model_card(blocks, limit)
    if _reads_the_same(observation, blocks):
        exact = fold("As text, as the model reads it", read.content)
        content = looks + (exact if _tree_of(observation) is not None else "")
        return cards_html([Card(BOTH, Html(content), read.remark)])
    returned = returned_frame(observation)
    size = "" if returned is None else shape_text(returned)
    return cards_html([Card(PERSON, Html(looks), size), read])


def _call(action: Action) -> Html:
    """What a call shows of itself; folded away where that only says what the form says."""
    html = Html(safely(to_html, visualized(action)))
    is_own = type(action).visualize is not Action.visualize
    return fold("The call", html, is_open=is_own)


def _model_card(blocks: Sequence[Any], limit: int) -> Card:
    try:
        views = list(block_views(blocks, verbatim=True, limit=limit))
        if len(views) == 1:
            return Card(MODEL, views[0].html(), views[0].title)
        parts = (section(view.title, view.html()) for view in views)
        return Card(MODEL, Html("".join(parts)), counted(len(blocks), "block"))
    except Exception as error:  # noqa: BLE001 - a block may be an object of a tool's own
        return Card(MODEL, to_html(_failure(error)))


def _reads_the_same(observation: Observation, blocks: Sequence[Any]) -> bool:
    """Whether *blocks*, which the model reads, say just what *observation* shows a person.

    A result with a look of its own, a table, a warning for the person, or text with terminal
    colours, which a model reads as escape codes, is not the same for both.
    """
    asides: Sequence[str] = getattr(observation, "_asides", ())
    if asides or not _is_plain(observation):
        return False
    header = TextContent(text=observation.ERROR_MESSAGE_HEADER)
    content = [*([header] if observation.is_error else []), *_content(observation)]
    return (
        [*blocks] == content
        and returned_frame(observation) is None
        and not _is_long(observation)
        and all(visible(text) == text for text in _texts(observation))
    )


def _is_plain(observation: Observation) -> bool:
    """Whether the result has no look of its own."""
    return type(observation).visualize is Observation.visualize


def _content(observation: Observation) -> Sequence[Content]:
    """The content that a person is shown."""
    content: Sequence[Content] = getattr(observation, "_person_content", ())
    return content


def _looks(observation: Observation, limit: int, later: int = 0) -> str:
    """What a result shows of itself; tables and JSON as such where it does not say how."""
    if _is_plain(observation) and not observation.is_error:
        returned = returned_frame(observation)
        if returned is not None:
            table = partial(table_html, later=later, typed=True)
            return safely(table, returned, say=to_html)
        if _images(observation):
            return blocks_html(_content(observation), limit=limit)  # in their order
        value = _tree_of(observation)
        if value is not None:
            return json_html(value, limit=limit)
    html = safely(partial(to_html, limit=limit), _visualized(observation, limit))
    return html + _pictures(observation)


def _tree_of(observation: Observation) -> Any:
    """The object or list that the text of a result writes down, if it is one and no more."""
    is_text = _is_plain(observation) and not observation.is_error
    if not is_text or _images(observation) or _is_long(observation):
        return None
    return parse_json("".join(_texts(observation)))


def _visualized(observation: Observation, limit: int) -> RenderableType:
    """Return what a result shows of itself; where that is all of a long text, its two ends."""
    if _is_plain(observation) and _is_long(observation):
        text = str(cap_joined(_texts(observation), limit - _ASIDE))
        content = [TextContent(text=text)]
        observation = observation.model_copy(update={"content": content})
    return visualized(observation)


def _texts(observation: Observation) -> list[str]:
    return [block.text for block in _content(observation) if block.type == "text"]


def _is_long(observation: Observation) -> bool:
    """Whether a text is too long to be read as a whole."""
    return sum(map(len, _texts(observation))) > _LONG


def _pictures(observation: Observation) -> str:
    """The images of a result: Rich cannot show them."""
    images = _images(observation)
    return blocks_html(images) if images else ""


def _images(observation: Observation) -> list[Any]:
    return [block for block in _content(observation) if block.type == "image"]


def safely(
    render: Callable[[Any], str],
    renderable: Any,
    say: Callable[[str], str] | None = None,
) -> str:
    """Return *renderable* by *render*; why that fails by *say*, or by *render* too."""
    try:
        return render(renderable)
    except Exception as error:  # noqa: BLE001 - a tool's own object may do anything
        return (say or render)(_failure(error))


def _failure(error: Exception) -> str:
    return f"This cannot be shown: {type(error).__name__}: {sentence(error)}"


def observation_text(observation: Observation, *, limit: int = LIMIT) -> str:
    """Return a result as text: for a person and for the model, or once for both."""
    blocks = read_by_model(observation)
    person_text = safely(partial(to_text, limit=limit), _visualized(observation, limit))
    if _reads_the_same(observation, blocks) and not _images(observation):
        return f"{BOTH}:\n{person_text}"
    blocks_of = partial(blocks_text, verbatim=True, limit=limit)
    return f"{PERSON}:\n{person_text}\n\n{MODEL}:\n{safely(blocks_of, blocks, say=to_text)}"


def observation_bundle(observation: Observation) -> dict[str, str]:
    """Return a result as text and as HTML that needs no kernel, without secrets of its run."""
    masked = without_secrets(observation)
    bundle = {"text/plain": observation_text(masked), "text/html": result_html(masked)}
    # a `visualize` of its own may know the secret from elsewhere
    return results.redactor_of(observation).bundle(bundle)


def without_secrets(observation: Observation) -> Observation:
    """Return *observation* without the secrets of its run."""
    return masked_observation(observation, results.redactor_of(observation))
