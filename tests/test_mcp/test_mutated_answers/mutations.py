"""Named ways to spoil an answer: in its result, or in the line that carries it.

A mutation of the result changes one part of it, named by its path. One of the line is a text with
`RESULT` and `@ID@` in the places of the result and the id; what is beyond ASCII is one byte each.
"""

import copy
import json

# Levels: more than Python's stack
DEEP = 200_000
# More than Python reads as an integer
DIGITS = "9" * 5_000
LONG = "long " * 40_000
OTHER = {dict: [1], list: {"a": 1}, str: 7, bool: "yes", int: "seven"}
EMPTY = {dict: {}, list: [], str: "", bool: False, int: -1}
HUGE = {str: LONG, bool: 10**300, int: 10**300}


def nested(levels):
    """Lists in lists."""
    value = []
    for _ in range(levels):
        value = [value]
    return value


def many(value):
    """*value*, a list or an object, with 2,000 parts more."""
    if isinstance(value, list):
        return value + copy.deepcopy(value[:1] or [7]) * 2_000
    return {**value, **{f"more{n}": n for n in range(2_000)}}


CHANGES = {
    "null": lambda value: None,
    "of-another-type": lambda value: OTHER[type(value)],
    "empty": lambda value: EMPTY[type(value)],
    "huge": lambda value: many(value) if type(value) in (dict, list) else HUGE[type(value)],
    "deep": lambda value: nested(300),
    "in-a-list": lambda value: [value],
}  # fmt: skip
"""By name, what replaces a part of a result."""

# The changes of parts of parts
BELOW = ("null", "of-another-type")

OK = '{"jsonrpc": "2.0", "id": @ID@, "result": RESULT}'
ERROR = '{"jsonrpc": "2.0", "id": @ID@, "error": %s}'
LINES = {
    # one answer that is there, in an odd dress
    "extra-fields": '{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "x": {"y": [1]}, "params": 7}',
    "after-blank-lines": "\n\r\n  \n" + OK,
    "after-a-word": "starting up ...\n" + OK,
    "after-binary": "\x00\xff\xfe\x80\n" + OK,
    "after-half-a-line": '{"jsonrpc": "2.0", "id": @ID@, "res\n' + OK,
    "after-an-answer-to-nobody": '{"jsonrpc": "2.0", "id": 987654, "result": {}}\n' + OK,
    "after-an-error-for-nobody": '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "odd"}}\n' + OK,
    "after-an-unknown-notification": '{"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": 1}}\n' + OK,
    "after-a-notification-without-sense": '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": "x"}}\n' + OK,
    "after-an-unknown-request": '{"jsonrpc": "2.0", "id": "q", "method": "odd/method"}\n' + OK,
    "after-a-question-with-the-same-id": '{"jsonrpc": "2.0", "id": @ID@, "method": "ping"}\n' + OK,
    "in-a-batch": f"[{OK}]",
    "with-crlf": OK + "\r",
    "with-blanks-around": f"  \t{OK}  \t",
    "with-a-byte-order-mark": "\xef\xbb\xbf" + OK,
    "with-the-id-as-text": '{"jsonrpc": "2.0", "id": "@ID@", "result": RESULT}',
    "twice": f"{OK}\n{OK}",
    "twice-and-then-an-error": f"{OK}\n" + ERROR % '{"code": 1, "message": "late"}',
    "with-the-id-twice": '{"jsonrpc": "2.0", "id": 5, "id": @ID@, "result": RESULT}',
    "with-a-lone-surrogate": '{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "x": "\\ud800"}',
    "with-invalid-utf8": '{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "x": "\xff\xfe\xc3"}',
    "with-nan": '{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "x": [NaN, Infinity, 1e999]}',
    "with-a-long-number": f'{{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "x": {DIGITS}}}',
    "with-depth": f'{{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "x": {"[" * DEEP}{"]" * DEEP}}}',
    # one answer that is there, and is none
    "result-of-depth": f'{{"jsonrpc": "2.0", "id": @ID@, "result": {"[" * DEEP}{"]" * DEEP}}}',
    "result-of-deep-objects": '{"jsonrpc": "2.0", "id": @ID@, "result": ' + '{"a":' * DEEP + "1" + "}" * (DEEP + 1),
    "result-null": '{"jsonrpc": "2.0", "id": @ID@, "result": null}',
    "result-a-text": '{"jsonrpc": "2.0", "id": @ID@, "result": "fine"}',
    "result-a-list": '{"jsonrpc": "2.0", "id": @ID@, "result": [RESULT]}',
    "result-a-number": '{"jsonrpc": "2.0", "id": @ID@, "result": 1e999}',
    "result-empty": '{"jsonrpc": "2.0", "id": @ID@, "result": {}}',
    "result-of-another-request": '{"jsonrpc": "2.0", "id": @ID@, "result": {"roots": [], "action": "accept"}}',
    "result-of-a-kind-nobody-knows": '{"jsonrpc": "2.0", "id": @ID@, "result": {"resultType": "odd", "a": 1}}',
    "result-and-error": '{"jsonrpc": "2.0", "id": @ID@, "result": RESULT, "error": {"code": 1, "message": "both"}}',
    "error": ERROR % '{"code": -32603, "message": "The disk is full"}',
    "error-without-a-message": ERROR % '{"code": -32603}',
    "error-without-a-code": ERROR % '{"message": "no code"}',
    "error-with-an-empty-message": ERROR % '{"code": -32603, "message": ""}',
    "error-with-a-message-of-another-type": ERROR % '{"code": -32603, "message": {"a": 1}}',
    "error-with-a-text-for-a-code": ERROR % '{"code": "E1", "message": "text code"}',
    "error-with-a-fraction-for-a-code": ERROR % '{"code": 1.5, "message": "fraction"}',
    "error-with-a-huge-code": ERROR % '{"code": 1%s, "message": "huge code"}' % ("0" * 400),
    "error-with-a-huge-message": ERROR % f'{{"code": 1, "message": "{LONG}"}}',
    "error-of-many-lines": ERROR % '{"code": 1, "message": "It failed:\\n  line 1\\n  line 2"}',
    "error-with-marks-of-a-terminal": ERROR % '{"code": 1, "message": "\\u001b[31mred\\u0007"}',
    "error-with-huge-data": ERROR % f'{{"code": 1, "message": "data", "data": "{LONG}"}}',
    "error-with-odd-data": ERROR % '{"code": 1, "message": "data", "data": [[{"a": null}], 1]}',
    "error-that-says-closed": ERROR % '{"code": -32000, "message": "Connection closed"}',
    "error-that-says-too-late": ERROR % '{"code": -32001, "message": "Request timeout"}',
    "error-that-says-unread": ERROR % '{"code": -32700, "message": "Parse error"}',
    "error-that-says-unknown-method": ERROR % '{"code": -32601, "message": "Method not found"}',
    "error-that-wants-no-pages": ERROR % '{"code": -32042, "message": "visit", "data": {"elicitations": []}}',
    "error-that-wants-odd-pages": ERROR % '{"code": -32042, "message": "visit", "data": {"elicitations": [1, {"url": 7}]}}',
    "error-that-wants-pages-of-another-type": ERROR % '{"code": -32042, "message": "visit", "data": "soon"}',
}  # fmt: skip
"""By name, lines in which there is an answer to the request."""

SILENT_LINES = {
    "nothing": "",
    "blank": "   ",
    "half": '{"jsonrpc": "2.0", "id": @ID@, "resu',
    "a-word": "null",
    "a-text": '"fine"',
    "a-number": "42",
    "an-empty-object": "{}",
    "an-empty-batch": "[]",
    "binary": "\x00\xff\xfe\x80\x1b[2J",
    "on-many-lines": OK.replace(", ", ",\n"),
    "with-a-quote-missing": OK.replace('"2.0"', '"2.0'),
    "with-single-quotes": OK.replace('"', "'"),
    "with-a-comma-too-much": OK.replace("RESULT}", "RESULT,}"),
    "version-missing": OK.replace('"jsonrpc": "2.0", ', ""),
    "version-1.0": OK.replace('"2.0"', '"1.0"'),
    "version-a-number": OK.replace('"2.0"', "2.0"),
    "version-null": OK.replace('"2.0"', "null"),
    "id-missing": OK.replace('"id": @ID@, ', ""),
    "id-null": OK.replace("@ID@", "null"),
    "id-of-another-request": OK.replace("@ID@", "987654"),
    "id-a-list": OK.replace("@ID@", "[@ID@]"),
    "id-an-object": OK.replace("@ID@", '{"id": @ID@}'),
    "id-true": OK.replace("@ID@", "true"),
    "id-huge": OK.replace("@ID@", "9" * 4_000),
    "neither-result-nor-error": '{"jsonrpc": "2.0", "id": @ID@}',
    "the-request-itself": '{"jsonrpc": "2.0", "id": @ID@, "method": "ping"}',
}
"""By name, lines in which there is none: the client waits for as long as it was told to."""


def bodies(result, depth=4):
    """The mutations of *result*, by name, as lines: each part missing, and each of `CHANGES`."""
    lines = {}
    for path in _paths(result, depth):
        name = ".".join(map(str, path))
        lines[f"{name}-missing"] = _line(_without(result, path))
        for kind, change in CHANGES.items():
            if len(path) == 1 or kind in BELOW:
                lines[f"{name}-{kind}"] = _line(_changed(result, path, change))
    return lines


def carried(line, result):
    """The *line* with *result* in it."""
    return line.replace("RESULT", json.dumps(result)) + "\n"


def _line(result):
    return carried(OK, result)


def _paths(value, depth, path=()):
    """The places in *value*: keys of objects, and the first item of lists."""
    if path:
        yield path
    if len(path) < depth:
        keys = value if isinstance(value, dict) else range(len(value[:1])) if isinstance(value, list) else ()  # fmt: skip
        for key in keys:
            yield from _paths(value[key], depth, (*path, key))


def _without(result, path):
    whole = copy.deepcopy(result)
    place = _at(whole, path[:-1])
    del place[path[-1]]
    return whole


def _changed(result, path, change):
    whole = copy.deepcopy(result)
    place = _at(whole, path[:-1])
    place[path[-1]] = change(place[path[-1]])
    return whole


def _at(value, path):
    for key in path:
        value = value[key]
    return value
