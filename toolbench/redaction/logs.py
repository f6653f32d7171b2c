"""Hide secrets in log records of tools, and of libraries that talk to a server."""

import logging
from collections.abc import Iterable
from contextlib import suppress

from toolbench.redaction.known import RememberedSecrets, remembered
from toolbench.redaction.redactor import Redactor

secrets_of_servers = RememberedSecrets()
"""The secrets of servers, even short ones, because libraries that talk to servers log them."""


def hide_in_record(record: logging.LogRecord, redactor: Redactor) -> None:
    """Hide the secrets of *redactor* in the message and the traceback of *record*."""
    if not redactor:
        return
    # The handlers report a bad log call
    with suppress(Exception):
        message = record.getMessage()
        if redactor.occurs_in(message):
            record.msg, record.args = redactor.text(message), None
        if record.exc_info and not record.exc_text:
            text = logging.Formatter().formatException(record.exc_info)
            record.exc_text = redactor.error_text(text)


class _Hiding(logging.Filter):
    """A filter that hides all remembered secrets, including those of servers, in log records."""

    def filter(self, record: logging.LogRecord) -> bool:
        hide_in_record(record, remembered.redactor.joined(secrets_of_servers.redactor_of_cell))
        return True


_hiding = _Hiding()


def hide_in_logs_of(libraries: Iterable[str]) -> None:
    """Hide the remembered secrets in the logs of *libraries*.

    *libraries* are the first parts of the names of loggers, such as `httpx`. If a library creates
    more loggers later, call this again, because each logger needs its own filter.
    """
    names = frozenset(libraries)
    loggers = dict(logging.Logger.manager.loggerDict)
    for name in {*names, *(n for n in loggers if n.partition(".")[0] in names)}:
        logging.getLogger(name).addFilter(_hiding)
