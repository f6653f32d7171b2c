"""The view of an observation: one card for people and one for the model, or one for both."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from pydantic_core import from_json
from rich.console import RenderableType
from rich.jupyter import JupyterMixin
from rich.text import Text

from toolbench.core.coercion import ResultObservation, display_bundle, masked_observation
from toolbench.core.content import Content, TextContent
from toolbench.core.result_limit import tokens_of
from toolbench.core.schema import Action, Observation, redactor_of
from toolbench.display.blocks import (
    MANY_TOKENS,
    block_views,
    blocks_html,
    blocks_text,
    bundle_html,
    token_tone,
    token_words,
)
from toolbench.display.caps import cap, cap_joined
from toolbench.display.css import CODE_FONT, REMARK
from toolbench.display.escape import Html, escape, visible
from toolbench.display.json_tree import json_html, json_text, parse_json
from toolbench.display.object_table import ObjectTable, object_table
from toolbench.display.page import Card, cards_html, fold, notice, section
from toolbench.display.render import to_html, to_text
from toolbench.display.tables import (
    Frame,
    returned_frame,
    shape_text,
    shown_of,
    table_html,
)
from toolbench.redaction.redactor import Redactor
from toolbench.values import sentence, text_of
from toolbench.wording import CROSS

PERSON = "What the user sees"
MODEL = "What the model reads"
BOTH = "The user and the model read the same"
_STRUCTURED = "Structured content, which differs from the text"
LIMIT = 60_000
"""The default number of characters of a result to show in each card."""

_ERROR = "This result is an error."
_FAILED = "padding:6px 10px;border-radius:6px;background:rgba(190,50,60,.09)"
_APART = '<div style="margin-top:8px">'
# A result of more characters is long; the larger number limits the JSON that is read for a table
_LONG, _LONGEST = 2_000_000, 200_000_000
# Characters of long JSON that tell whether it may be a table
_BEGINNING = 20_000
_WORD = re.compile(r"\w+")
# The beginning of a list of objects, or of an object
_OBJECTS = re.compile(r"\s*(\[\s*)?\{")
# First words of an error's text that a view must contain; also, characters before JSON in a text
_FIRST = 20
# Columns: so many that no table breaks a word
_WIDE = 1_000
# Objects in a list
_MOST_DRAWN = 50
# After this many characters of HTML, no further object is drawn
_MOST_HTML = 500_000
# Room for the characters of remarks in addition to a result's text
_ASIDE = 1_000


def visualized(thing: Action | Observation) -> RenderableType:
    """Return `thing.visualize`, or a sentence about the error that this property raises."""
    try:
        return thing.visualize
    except Exception as error:  # noqa: BLE001 - a tool's own code: its result is not lost
        return f"visualize failed with {type(error).__name__}: {sentence(error)}\n{text_of(thing)}"


def read_by_model(observation: Observation) -> Sequence[Any]:
    """Return the blocks that the model reads. If `to_llm_content` fails, a block says so."""
    try:
        blocks: Any = observation.to_llm_content
    except Exception as error:  # noqa: BLE001 - a tool's own code: its result is not lost
        failed = f"to_llm_content failed with {type(error).__name__}: {sentence(error)}"
    else:
        if isinstance(blocks, list | tuple):
            return blocks
        failed = f"to_llm_content is not a list of content: {type(blocks).__name__}"
    return Observation.from_text(failed, is_error=True).to_llm_content


class Data(NamedTuple):
    """What the text of a result says, if it is JSON, and the table in the result."""

    value: Any
    table: Frame | None


def data_of(observation: Observation) -> Data:
    """Read the data of *observation*; see `json_of` and `table_of`."""
    value = json_of(observation)
    return Data(value, table_of(observation, value))


def result_html(
    observation: Observation,
    action: Action | None = None,
    *,
    limit: int = LIMIT,
    is_stated: bool = False,
    key: str = "",
    data: Data | None = None,
) -> Html:
    """Return a result as two cards: what the user sees, and what the model reads.

    If both are the same, return a single card.

    Args:
        observation: The result.
        action: The call, shown above the result in the user's card.
        limit: The number of characters to show in each card. A notice says how many are left out.
        is_stated: Whether the page already says elsewhere that the call failed. If so, the cards do
            not repeat it.
        key: The key of the result in `live_results`, with which the page can ask for more rows.
        data: `data_of(observation)`, if the caller has read it.
    """
    blocks = read_by_model(observation)
    head = ""
    if action is not None:
        head += _call(action)
    view = _own_view(observation)
    error = _error_text(observation, blocks, view)
    if error and not (is_stated and error == _ERROR):
        head += notice(error, "danger")
    drawn = _drawn_html(observation)
    value, table = data or data_of(observation)
    data_html = partial(_data_html, observation, value, table, limit, key)
    shown = drawn or _view_html(observation, view, limit, data_html)
    read = _model_card(blocks, limit)
    advice = ""
    if read.tone == "danger" and observation._max_tokens is None:
        advice = _way_to_cut(observation)
    unread = unread_data(observation)
    is_same = not drawn and unread is None and _reads_the_same(observation, value, blocks, view)
    title, content = "As text, as the model reads it", read.content
    if value is not None and not is_same:
        title, content = "As text", to_html(_visualized(observation, limit), limit=limit)
    text = _APART + fold(title, content) + "</div>"
    if value is not None and not drawn:
        # A page with our module shows a switch instead of the fold (`frontend/src/views.ts`)
        shown = f"<div data-toolbench-views><div>{shown}</div>{text}</div>"
    looks = head + shown + _unread(observation)
    if unread is not None:
        looks += section(_STRUCTURED, json_html(unread, limit=limit))
    size = ""
    if table is not None:
        size = shape_text(table)
    if is_same:
        # The words that tell a model that this is an error are not shown elsewhere
        if observation.is_error and view is None:
            looks += text
        remark = " · ".join(filter(None, (size, read.remark)))
        return cards_html([Card(BOTH, Html(advice + looks), remark, read.tone)])
    read = replace(read, content=Html(advice + read.content))
    return cards_html([Card(PERSON, Html(looks), size), read])


def _own_view(observation: Observation) -> RenderableType | None:
    """Return the view that the class of *observation* defines; None if it defines none."""
    if _is_plain(observation):
        return None
    return visualized(observation)


def _error_text(
    observation: Observation, blocks: Sequence[Any], view: RenderableType | None
) -> str:
    """Return a warning if the class of an error result hides the error from the user or the model.

    A class of the user may define `visualize` or `to_llm_content` without the text of the error.
    The warning says which of them lacks the text, and contains the text if the user would not see
    it. If *view* shows the text, but not that it is an error, the warning says that. Return an
    empty string if nothing is hidden.

    Args:
        observation: The result. For toolbench's own classes there is never a warning.
        blocks: The content blocks that the model reads.
        view: The result of `visualize`; None if the class does not define it.
    """
    kind = type(observation)
    if not observation.is_error or kind.__module__.startswith("toolbench."):
        return ""
    text = _joined(observation.content)
    is_said = is_shown = view is None
    if view is not None:
        seen = safely(partial(to_text, width=_WIDE), view)
        is_said = observation.ERROR_MESSAGE_HEADER.strip() in seen
        is_shown = _has_words(seen, text)
    is_read = _has_words(_joined(blocks), text)
    if is_shown and is_read:
        if is_said:
            return ""
        return _ERROR
    name = kind.__name__
    if is_read:
        which = f"`visualize` of {name} does not show its text: {text}"
    elif is_shown:
        which = f"`to_llm_content` of {name} does not give the model its text."
    else:
        which = f"neither `visualize` nor `to_llm_content` of {name} has its text: {text}"
    return f"This result is an error, and {which}"


def _joined(blocks: Sequence[Any]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextContent))


def _has_words(view: str, text: str) -> bool:
    """Tell whether *view* has the first words of *text*, even if table cells break its lines."""
    words = {match.group() for match in islice(_WORD.finditer(text), _FIRST)}
    return words <= set(_WORD.findall(view))


def _unread(observation: Observation) -> str:
    """Return a notice if no one sees the fields that the class of *observation* adds.

    The notice tells the user how to add content. It is empty if the user or the model sees the
    fields, if there are none, and for toolbench's own classes.
    """
    kind = type(observation)
    own = [name for name in kind.model_fields if name not in Observation.model_fields]
    is_read = kind.to_llm_content is not Observation.to_llm_content
    is_shown = not _is_plain(observation) or person_content(observation)
    if not own or is_read or is_shown or kind.__module__.startswith("toolbench."):
        return ""
    text = (
        f"Neither you nor the model reads the fields of this result ({', '.join(own)}), since it has "
        f'no content. Return {kind.__name__}.from_text("...", {own[0]}=...).'
    )
    return notice(text, "neutral")


def _call(action: Action) -> Html:
    """Return the view of the call *action*, folded if it is only a list of the arguments."""
    html = Html(safely(to_html, visualized(action)))
    author = next(c for c in type(action).__mro__ if "visualize" in vars(c))
    return fold("The call", html, is_open=not vars(author).get("_lists_arguments"))


def _model_card(blocks: Sequence[Any], limit: int) -> Card:
    try:
        tokens = tokens_of(blocks)
        tone = token_tone(tokens)
        views = list(block_views(blocks, verbatim=True, limit=limit))
        if len(views) == 1:
            return Card(MODEL, views[0].html(), views[0].title, tone)
        parts = (section(view.title, view.html()) for view in views)
        return Card(MODEL, Html("".join(parts)), token_words(tokens), tone)
    except Exception as error:  # noqa: BLE001 - a block may be any object of the tool
        return Card(MODEL, to_html(_failure(error)))


def _way_to_cut(observation: Observation) -> Html:
    """Return the line of code that shortens results like *observation* for a model."""
    line = f'tool.model_copy(update={{"max_result_tokens": {MANY_TOKENS:_}}})'
    if isinstance(observation, ResultObservation):
        line = f"@tool(max_result_tokens={MANY_TOKENS:_})"
    code = f'<code style="{CODE_FONT};user-select:all">{escape(line)}</code>'
    return Html(
        f'<div style="{REMARK};margin-bottom:6px">This cuts what a model reads: {code}</div>'
    )


def _reads_the_same(
    observation: Observation, value: Any, blocks: Sequence[Any], view: RenderableType | None
) -> bool:
    """Tell whether the user and the model see the same content.

    Their content differs if *view* has other words than *blocks*, or if the result is a DataFrame.
    It also differs if the result has a warning for the user. Very long text differs, and so does
    text whose displayed parts have terminal colours, which a model reads as escape codes.

    Args:
        observation: The result.
        value: The content, if it is JSON; otherwise None.
        blocks: The content blocks that the model reads.
        view: The view that the result's class defines; None if it defines none.
    """
    if _asides(observation):
        return False
    if view is not None:
        is_text = all(isinstance(block, TextContent) for block in blocks)
        return is_text and isinstance(view, str | Text) and str(view) == _joined(blocks)
    content = list(person_content(observation))
    if observation.is_error:
        content.insert(0, TextContent(text=observation.ERROR_MESSAGE_HEADER))
    return (
        list(blocks) == content
        and returned_frame(observation) is None
        and (value is not None or not _is_long(observation))
        and all(cap(text, LIMIT, visible) == cap(text, LIMIT) for text in _texts(observation))
    )


def _is_plain(observation: Observation) -> bool:
    """Tell whether the class of *observation* does not define a view."""
    return type(observation).visualize is Observation.visualize


def person_content(observation: Observation) -> Sequence[Content]:
    """Return the content of *observation* that is for people."""
    content: Sequence[Content] = getattr(observation, "_person_content", ())
    return content


def _view_html(
    observation: Observation,
    view: RenderableType | None,
    limit: int,
    data_html: Callable[[], str],
) -> str:
    """Return *view*, if the result's class defines one, or else the result's data or text."""
    if _is_plain(observation) and not observation.is_error:
        data = data_html()
        asides = _asides(observation)
        if data and asides:
            data = notice("\n".join(asides), "warning") + data
        if data:
            return data
    if view is None:
        view = _visualized(observation, limit)
    html = safely(partial(to_html, limit=limit), _without_header(observation, view))
    if _is_plain(observation) and observation.is_error:
        html = f'<div style="{_FAILED}">{html}</div>'
    if _is_plain(observation) and _is_long(observation):
        html = f"<div data-toolbench-part>{html}</div>"
    # Rich cannot show them
    images = _images(observation)
    if images:
        html += blocks_html(images)
    return html


def _without_header(observation: Observation, view: RenderableType) -> RenderableType:
    """Return *view* without the header that tells a model that the result is an error.

    For the user, the cross before the header already shows the error.
    """
    mark = f"{CROSS} {observation.ERROR_MESSAGE_HEADER}"
    if not isinstance(view, Text) or not view.plain.startswith(mark):
        return view
    return Text.assemble((f"{CROSS} ", "bold red"), view[len(mark) :])


def _drawn_html(observation: Observation) -> str:
    """Return the harmless part of the HTML with which a notebook would draw the result.

    Return an empty string if the result is data, text or images, which have other views.
    """
    result = vars(observation).get("result")
    # As most results are
    is_text = type(result) in (str, type(None))
    if is_text or not _is_plain(observation) or observation.is_error:
        return ""
    is_picture = all(block.type == "image" for block in person_content(observation))
    if is_picture or returned_frame(observation) is not None:
        return ""
    items = [result]
    if isinstance(result, list | tuple):
        if len(result) > _MOST_DRAWN:
            return ""
        # A subclass may raise, and is then shown as text
        with suppress(Exception):
            items = list(result)
    drawn = ""
    for place, item in enumerate(items):
        if len(drawn) > _MOST_HTML:
            rest = f"{len(items) - place} more of {len(items)} objects are not drawn."
            return drawn + notice(f"{rest} `observation.result` has them.", "neutral")
        html = safely(_drawn, item, say=to_html)
        if not html:
            return ""
        drawn += html
    return drawn


def _drawn(item: Any) -> Html:
    """Return the harmless part of the HTML for *item*. Rich objects are drawn by `to_html`."""
    if isinstance(item, _Drawn) and item.html:
        return item.html
    if isinstance(item, JupyterMixin):
        renderable: Any = item
        return to_html(renderable)
    return bundle_html(display_bundle(item))


def _data_html(
    observation: Observation, value: Any, table: Frame | None, limit: int, key: str
) -> str:
    """Return the result as a table, pictures or a JSON tree; empty if the result is text."""
    if table is not None:
        above = ""
        if isinstance(table, ObjectTable):
            above = table.above_html
        draw = partial(table_html, typed=True, key=key)
        return above + safely(draw, table, say=to_html)
    if _images(observation):
        return _content_html(person_content(observation), limit)
    if value is None:
        return ""
    return json_html(value, limit=limit)


def _asides(observation: Observation) -> Sequence[str]:
    """Return the remarks about the result for people."""
    asides: Sequence[str] = getattr(observation, "_asides", ())
    return asides


def unread_data(observation: Observation) -> Any:
    """Return data for people that the text of *observation* lacks; None if there is none."""
    return getattr(observation, "_unread_data", None)


def _content_html(blocks: Sequence[Any], limit: int) -> Html:
    """Return *blocks* in their order. A single block gets no title, because its card has it."""
    if len(blocks) > 1:
        return blocks_html(blocks, limit=limit)
    return next(block_views(blocks, limit=limit)).html()


def table_of(observation: Observation, value: Any) -> Frame | None:
    """Return the table in *observation*: a DataFrame, or JSON data that has a list of objects.

    *value* is the JSON data, as `json_of(observation)` returns it. Return None if there is no
    table.
    """
    frame = returned_frame(observation)
    if frame is None:
        return object_table(value)
    return frame


def whole_table(observation: Observation, redactor: Redactor) -> Frame | None:
    """Return the table in *observation* with all its rows; None if there is no table.

    In a table of JSON objects, *redactor* has hidden the secrets. A DataFrame is returned
    unchanged, so the caller must hide the secrets in it.
    """
    frame = returned_frame(observation)
    if frame is not None:
        return frame
    return data_of(without_secrets(observation, redactor)).table


def json_of(observation: Observation) -> Any:
    """Parse the text of *observation* as a JSON object or list; return None for other text.

    Long text is parsed only if a list of objects, such as the rows of a table, begins near its
    start. If an object in long text has the same key twice, only the last value is read.
    """
    is_text = _is_plain(observation) and not observation.is_error
    if not is_text or _images(observation) or returned_frame(observation) is not None:
        return None
    texts = _texts(observation)
    if _is_long(observation):
        return _long_table(texts, is_own=type(observation) is ResultObservation)
    return parse_json("".join(texts))


def _long_table(texts: Sequence[str], *, is_own: bool) -> Any:
    """Return the JSON value of *texts*, which are long, if it contains a table; otherwise None.

    *is_own* says that a tool of this process wrote it: then it is not searched for repeated keys.
    """
    # No other long text is read
    if not _OBJECTS.match(texts[0], 0, _FIRST) or sum(map(len, texts)) > _LONGEST:
        return None
    text = "".join(texts)
    try:
        beginning = from_json(text[:_BEGINNING], allow_partial="trailing-strings")
        if object_table(beginning) is None:
            return None
        if is_own:
            value = from_json(text, cache_strings="keys")
        else:
            value = parse_json(text, most=_LONGEST)
    except ValueError:
        return None
    if object_table(value) is None:
        return None
    return value


def _visualized(observation: Observation, limit: int) -> RenderableType:
    """Return the view of *observation*. Long plain text is cut to its head and tail."""
    if not _is_plain(observation) or not _is_long(observation):
        return visualized(observation)
    capped = cap_joined(_texts(observation), limit - _ASIDE)
    if observation.is_error or _asides(observation):
        content = [TextContent(text=str(capped))]
        return visualized(observation.model_copy(update={"content": content}))
    # In parts, since Rich reads a long text fast only if all of it is ASCII, and the notice is not
    hide = redactor_of(observation).text
    return Text("\n").join(Text(hide(part)) for part in capped.parts)


def _texts(observation: Observation) -> list[str]:
    return [block.text for block in person_content(observation) if block.type == "text"]


def _is_long(observation: Observation) -> bool:
    """Tell whether the text of *observation* is too long to be processed as a whole."""
    return sum(map(len, _texts(observation))) > _LONG


def _images(observation: Observation) -> list[Any]:
    return [block for block in person_content(observation) if block.type == "image"]


def safely(
    render: Callable[[Any], str],
    renderable: Any,
    say: Callable[[str], str] | None = None,
) -> str:
    """Return `render(renderable)` or, if this fails, a sentence about the error.

    The sentence is rendered by *say* or, without *say*, by *render*.
    """
    try:
        return render(renderable)
    except Exception as error:  # noqa: BLE001 - a tool's own object may do anything
        return (say or render)(_failure(error))


def _failure(error: Exception) -> str:
    return f"This cannot be shown: {type(error).__name__}: {sentence(error)}"


def observation_text(observation: Observation, *, limit: int = LIMIT) -> str:
    """Return a result as two texts, for the user and for the model, or as one text for both."""
    blocks = read_by_model(observation)
    view = _own_view(observation)
    shown = view
    if shown is None:
        shown = _visualized(observation, limit)
    person_text = safely(partial(to_text, limit=limit), shown)
    error = _error_text(observation, blocks, view)
    if error:
        person_text = f"{to_text(error)}\n{person_text}"
    data = unread_data(observation)
    if data is not None:
        person_text += f"\n{_STRUCTURED}:\n{json_text(data, limit=limit)}"
    is_same = data is None and _reads_the_same(observation, None, blocks, view)
    if is_same and not _images(observation):
        return f"{BOTH}:\n{person_text}"
    blocks_of = partial(blocks_text, verbatim=True, limit=limit)
    return f"{PERSON}:\n{person_text}\n\n{MODEL}:\n{safely(blocks_of, blocks, say=to_text)}"


def without_secrets(observation: Observation, redactor: Redactor | None = None) -> Observation:
    """Return *observation* for display, with a mark in place of each secret.

    Args:
        observation: The result of a run.
        redactor: Hides the secrets. By default, the secrets that were known when the run ended are
            hidden.
    """
    if redactor is None:
        redactor = redactor_of(observation)
    if not redactor or type(observation) is not ResultObservation:
        return masked_observation(observation, redactor)
    # Only the text and, for a table, the rows are shown; what is not shown is not searched
    shown = masked_observation(observation.model_copy(update={"result": None}), redactor)
    if type(shown) is not ResultObservation:
        return shown
    frame = returned_frame(observation)
    if frame is not None:
        return shown.model_copy(update={"result": shown_of(frame, redactor.value)})
    if isinstance(observation.result, JupyterMixin):
        html = redactor.html(safely(to_html, observation.result))
        return shown.model_copy(update={"result": _Drawn({}, html)})
    bundle = redactor.bundle(display_bundle(observation.result))
    if bundle:
        return shown.model_copy(update={"result": _Drawn(bundle)})
    return shown


class _Drawn:
    """A result with its secrets hidden. It is shown as *html* or, if this is empty, as *bundle*."""

    def __init__(self, bundle: dict[str, Any], html: str = "") -> None:
        self._bundle, self.html = bundle, Html(html)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return self._bundle
