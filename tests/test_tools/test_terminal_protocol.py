"""What a shell reports is understood, also after an interrupt has cut a report short."""

import pytest

from test_tools.terminal_parts import Terminal
from toolbench.tools.terminal.shell_protocol import Ended, Records

EARLIER, TOKEN = "0123456789abcdef", "fedcba9876543210"
COMPLAINT = b'bash: ((: %s: syntax error: operand expected (error token is "%s")\n'
BEGUN = COMPLAINT % (b"/%s+" % TOKEN.encode(), b"+")


def record_of(token: str) -> bytes:
    state = f"/{token} 0 77 /here/{token}".encode()
    over = f"/{token}-".encode()
    return COMPLAINT % (state, state) + b"/bin/python\n" + COMPLAINT % (over, b"-")


@pytest.mark.parametrize("cut", range(len(record_of(EARLIER)) + 1))
@pytest.mark.parametrize("token", [EARLIER, TOKEN], ids=["earlier", "same"])
def test_a_report_cut_short_costs_no_later_one(token, cut):
    """Wherever a C-c cut the report before, the next one is read as it is."""
    records = Records()
    records.write(record_of(token)[:cut] + BEGUN + record_of(TOKEN))
    assert records.take(TOKEN) == Ended(0, "/here", "/bin/python", 77)
    assert records.take(TOKEN) is None


def test_no_report_is_read_before_it_is_complete():
    """Neither the word that a command begins nor half of its report is one."""
    whole = BEGUN + record_of(TOKEN)
    for length in range(whole.index(f"/{TOKEN}-".encode())):
        records = Records()
        records.write(whole[:length])
        assert records.take(TOKEN) is None
        records.write(whole[length:])
        assert records.take(TOKEN) == Ended(0, "/here", "/bin/python", 77)


def test_a_directory_may_have_any_name(tmp_path):
    """Its name may hold line ends and what looks like another report."""
    odd = tmp_path / f"a\n+{TOKEN}\ntrap -- 'echo $(id)' ERR\n`id`\\'\"[0]"
    odd.mkdir()
    with Terminal(odd) as terminal:
        assert terminal.run("true").metadata.working_dir == str(odd)
