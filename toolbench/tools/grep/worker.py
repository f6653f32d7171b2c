"""A program that searches texts with one regular expression: see `slow`.

It is given the seconds it may take for a text, and reads messages: the pattern, then the
texts. For each text it says `y` or `n`. It knows nothing of toolbench, so it starts quickly.
"""

import re
import sys
import warnings
from collections.abc import Iterator
from faulthandler import cancel_dump_traceback_later, dump_traceback_later


def main() -> None:
    """Answer until there are no more texts; end with code 1 if one takes too long."""
    warnings.simplefilter("ignore")  # the pattern was compiled before
    messages = _messages()
    search = re.compile(next(messages), re.IGNORECASE).search
    for text in messages:
        dump_traceback_later(float(sys.argv[1]), exit=True)
        found = any(map(search, text.split("\n")))
        cancel_dump_traceback_later()
        sys.stdout.buffer.write(b"y" if found else b"n")
        sys.stdout.buffer.flush()


def _messages() -> Iterator[str]:
    for size in sys.stdin.buffer:
        yield sys.stdin.buffer.read(int(size)).decode("utf-8", "surrogatepass")


if __name__ == "__main__":
    main()
