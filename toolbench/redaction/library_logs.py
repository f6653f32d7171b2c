"""Hide secrets in what libraries log by themselves: the address of a server, a message to it."""

import logging
from collections.abc import Iterable
from contextlib import suppress

from toolbench.redaction.remembered import remembered


class _Hiding(logging.Filter):
    """Lets every record through, without the secrets that this process knows."""

    def filter(self, record: logging.LogRecord) -> bool:
        redactor = remembered.redactor
        if redactor:
            with suppress(Exception):  # a bad log call is told by the handlers
                record.msg, record.args = redactor.text(record.getMessage()), None
                if record.exc_info and not record.exc_text:
                    text = logging.Formatter().formatException(record.exc_info)
                    record.exc_text = redactor.text(text)
        return True


_hiding = _Hiding()


def hide_in_logs_of(libraries: Iterable[str]) -> None:
    """Hide what is remembered in the logs of *libraries*, by the first word of a logger's name.

    A filter sees the records of its own logger only, so those that a library makes later are
    found by the next call.
    """
    names = frozenset(libraries)
    loggers = dict(logging.Logger.manager.loggerDict)
    for name in {*names, *(n for n in loggers if n.partition(".")[0] in names)}:
        logging.getLogger(name).addFilter(_hiding)
