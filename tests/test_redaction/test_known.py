"""What one run hides: its arguments, a conversation's, those of its schema, and what it learns."""

import pytest

from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import KnownSecrets, Secrets, remembered

ARGUMENT, OF_SCHEMA, DECLARED = "hunter2-argument", "hunter2-default", "hunter2-declared"
SCHEMA = {"properties": {"password": {"default": OF_SCHEMA}, "user": {"type": "string"}}}
pytestmark = pytest.mark.usefixtures("no_records")


def test_are_known_before_the_run_begins():
    """A call that does not fit its tool has no action, and its arguments are shown all the same."""
    arguments = {"user": "ada", "password": ARGUMENT}
    known = KnownSecrets(arguments, Secrecy(SCHEMA), Secrets({"KEY": DECLARED}))
    text = f"{ARGUMENT}, {OF_SCHEMA}, {DECLARED}"
    assert known.redactor.text(text) == f"{MARK}, {MARK}, {MARK}"
    assert known.arguments == {"user": "ada", "password": MARK}
    # So do later runs
    assert remembered.redactor.text(text) == f"{MARK}, {MARK}, {MARK}"


def test_what_is_learned_is_remembered_and_announced_once():
    """By the run, by all later ones, and by what waits for the first secret of the run."""
    known, begun = KnownSecrets({"user": "ada"}, Secrecy({})), []
    known.on_first(lambda: begun.append(1))
    known.learn({"user": "ada"})
    assert begun == [] and not known.redactor
    for secret in (ARGUMENT, DECLARED):
        known.learn({"password": secret})
        assert known.redactor.text(secret) == remembered.redactor.text(secret) == MARK
    assert begun == [1]
