"""Find the recorded answer to a request by comparing methods and parameters.

There are three rules for comparing a request with the recorded requests. They are tried in this
order, until a recorded request matches:

- `exact`: method and parameters are equal, apart from `_meta` and the order of keys.
- `secrets`: like `exact`, but a value that is hidden in the recording matches any value.
- `times`: like `secrets`, but a date with a time also matches any other date with a time.

The parameters of requests that open a connection (`HANDSHAKE`) are not compared, because they
contain the version of the client.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from json import dumps
from typing import Any

from toolbench.errors import did_you_mean
from toolbench.mcp.recording.tape import Exchange
from toolbench.redaction import split_at_marks
from toolbench.values import DATE_TIME, clip

HANDSHAKE = frozenset({"initialize", "server/discover"})
# The most characters of a quoted value
_MAX_VALUE = 200
# The most differences that are shown
_SHOWN = 3
# The most recorded requests to compare with a request that was not recorded
_COMPARED = 1_000

Same = Callable[[Any, Any], bool]
"""A function that tells whether a recorded value and a new value match."""


class Matcher:
    """Finds the recorded request that matches a new request, and the recorded answer.

    If several recorded requests match, each of them is used once, in the recorded order. After
    that, the last of them is used every time.
    """

    def __init__(self, exchanges: list[Exchange]) -> None:
        """Prepare to search *exchanges*, the recorded requests with their answers."""
        self._exchanges = exchanges
        self._used: set[int] = set()
        self._by_text: dict[str, list[Exchange]] = {}
        self._by_method: dict[str, list[Exchange]] = {}
        for exchange in exchanges:
            self._by_method.setdefault(exchange.method, []).append(exchange)
            text = _text(exchange.method, exchange.params)
            self._by_text.setdefault(text, []).append(exchange)

    def find(self, method: str, params: Mapping[str, Any]) -> Exchange | None:
        """Return the recorded exchange that matches a request; None if there is none."""
        known = self._by_method.get(method, [])
        if method in HANDSHAKE:
            # Unanswered probes, which may have ended the server, are left out
            return self._next(filter(_is_answered, known))
        exact = self._by_text.get(_text(method, params))
        if exact:
            return self._next(exact)
        now = _judged(params)
        for same in RULES.values():
            fitting = []
            for exchange in known:
                if _alike(_judged(exchange.params), now, same):
                    fitting.append(exchange)
            if fitting:
                return self._next(fitting)
        return None

    def _next(self, exchanges: Iterable[Exchange]) -> Exchange | None:
        """Return the first unused one of *exchanges*, else the last; None if there are none."""
        exchange = None
        for exchange in exchanges:
            if id(exchange) not in self._used:
                self._used.add(id(exchange))
                break
        return exchange

    def missing(self, method: str, params: Mapping[str, Any]) -> str:
        """Return the error message for a request that was not recorded.

        The message tells how the request differs from the most similar recorded request.
        """
        arguments = clip(_judged(params), _MAX_VALUE)
        text = f"Not recorded: {method} {arguments}."
        known = self._by_method.get(method, [])
        if not known:
            methods = did_you_mean(method, self._by_method)
            return f"{text} The recording has no request {method}.{methods}"
        now = _judged(params)
        compared = []
        for exchange in known[:_COMPARED]:
            compared.append(list(_differences(_judged(exchange.params), now)))
        nearest = min(compared, key=len)
        shown = nearest[:_SHOWN]
        if len(nearest) > _SHOWN:
            shown.append(f"{len(nearest) - _SHOWN} more")
        return f"{text} The nearest recorded one differs in {'; '.join(shown)}."


def _is_answered(exchange: Exchange) -> bool:
    return "result" in (exchange.response or {})


# --- the rules --------------------------------------------------------------------------


def _is_secret_place(recorded: Any, now: Any) -> bool:
    """Tell whether *recorded* is a string with hidden secrets that *now* matches."""
    if not isinstance(recorded, str):
        return False
    parts = split_at_marks(recorded)
    if len(parts) < 2:
        return False
    if not any(parts):
        # The whole string is hidden: any type matches
        return True
    return isinstance(now, str) and _stand_in_order(parts, now)


def _stand_in_order(parts: list[str], text: str) -> bool:
    """Tell whether *text* has all *parts* in order, the first at its start, the last at its end."""
    first, *inner, last = parts
    at, end = len(first), len(text) - len(last)
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return False
    # The first match leaves most room for the next part
    for part in inner:
        place = text.find(part, at, end)
        if place < 0:
            return False
        at = place + len(part)
    return True


def _is_time_place(recorded: Any, now: Any) -> bool:
    if _is_secret_place(recorded, now):
        return True
    both = isinstance(recorded, str) and isinstance(now, str)
    return both and bool(DATE_TIME.fullmatch(recorded) and DATE_TIME.fullmatch(now))


RULES: Mapping[str, Same] = {"secrets": _is_secret_place, "times": _is_time_place}
"""The rules that are tried after `exact`, by name, in order."""


def _alike(recorded: Any, now: Any, same: Same) -> bool:
    if same(recorded, now):
        return True
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        if recorded.keys() != now.keys():
            return False
        return all(_alike(recorded[key], now[key], same) for key in recorded)
    if isinstance(recorded, list) and isinstance(now, list):
        if len(recorded) != len(now):
            return False
        return all(map(_alike, recorded, now, repeat(same)))
    return _dumped(recorded) == _dumped(now)


def with_recorded_secrets(recorded: Any, now: Any) -> Any:
    """Return *now* with the recorded marks in place of values that matched hidden secrets."""
    if _is_secret_place(recorded, now):
        return recorded
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        shown = dict(now)
        for key in recorded.keys() & now.keys():
            shown[key] = with_recorded_secrets(recorded[key], now[key])
        return shown
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        return list(map(with_recorded_secrets, recorded, now))
    return now


# --- comparing --------------------------------------------------------------------------


def _judged(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return *params* without `_meta`, which is not compared."""
    return {key: value for key, value in params.items() if key != "_meta"}


def _text(method: str, params: Mapping[str, Any]) -> str:
    return f"{method} {_dumped(_judged(params))}"


def _dumped(value: Any) -> str:
    return dumps(value, sort_keys=True, default=str)


def _differences(recorded: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield descriptions of the differences between two values."""
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        for key in {**recorded, **now}:
            place = f"{where}.{key}".lstrip(".")
            if key not in now:
                yield f"{place} (recorded {clip(recorded[key], _MAX_VALUE)}, missing now)"
            elif key not in recorded:
                yield f"{place} (not recorded, {clip(now[key], _MAX_VALUE)} now)"
            else:
                yield from _differences(recorded[key], now[key], place)
    elif not _alike(recorded, now, _is_time_place):
        values = f"recorded {clip(recorded, _MAX_VALUE)}, {clip(now, _MAX_VALUE)} now"
        yield f"{where or 'its parameters'} ({values})"
