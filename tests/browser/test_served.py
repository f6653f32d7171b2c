"""Agents call the tools of a notebook, and a person looks on and decides."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from fastmcp import Client
from mcp_types import Implementation
from patience import PATIENCE, eventually
from playwright.sync_api import Locator, expect
from test_serving.clients import talk_at

from browser.axe import violations
from browser.lab import NotebookPage

SETUP = '''
%load_ext toolbench
from toolbench import current_run, tool
from toolbench.serving import serve

@tool(read_only=True)
def find_books(words: str, since: int = 1900) -> list:
    """Search the library by words.

    Args:
        words: Part of a title.
        since: The first year.
    """
    return ["The Sea-Wolf", "Moby-Dick", "Typee"]

@tool(destructive=True)
def delete_volume(volume: int) -> str:
    """Delete a volume and its entries.

    Args:
        volume: Its number.
    """
    return f"volume {volume} is gone"

@tool(read_only=True)
def lend(title: str) -> str:
    """Lend a book for a number of days that is asked for.

    Args:
        title: Of the book.
    """
    days = {"type": "object", "required": ["days"], "properties": {"days": {"type": "integer"}}}
    return f"for {current_run().ask('For how long?', days)['days']} days"
'''
SERVE = "served = serve([find_books, delete_volume, lend], name='library')\nopen('where.txt', 'w').write(f'{served.url} {served.token}')\nserved"
WIDTHS = (1280, 700)


class Agent:
    """A real client in a thread of its own: Playwright holds this one."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._pool = ThreadPoolExecutor(4)

    def call(self, tool: str, **arguments: object) -> Future[str]:
        """Begin a call; the result is the text of what came back."""

        async def conversation(client: Client) -> str:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            text: str = result.content[0].text
            return text

        name = Implementation(name="My agent", version="1")
        return self._pool.submit(talk_at, self._url, self._token, conversation, client_info=name)

    def close(self) -> None:
        """Wait for all calls."""
        self._pool.shutdown()


@pytest.fixture
def agent(lab: NotebookPage, nbroot) -> Iterator[Agent]:
    """The agent of a notebook that serves; where it is, is in no saved notebook."""
    lab.share(SETUP, SERVE, "served.close()")
    lab.run(0)
    lab.run(1)
    agent = Agent(*(nbroot / "where.txt").read_text().split())
    yield agent
    agent.close()


def alive(lab: NotebookPage) -> Locator:
    """The panel as widgets: the output before it is for when they are gone."""
    return lab.output(1).locator(".toolbench-served").first


def press(within: Locator, name: str) -> None:
    within.get_by_role("button", name=name, exact=True).click()


def gap_after_agent(panel: Locator) -> float:
    """How many pixels of a line are empty between the name of the agent and its call."""
    return float(
        panel.locator(".toolbench-what").first.evaluate(
            """line => {
              const [who, call] = [...line.children].map(part => {
                const range = document.createRange();
                range.selectNodeContents(part);
                return range.getBoundingClientRect();
              });
              return call.left - who.right;
            }"""
        )
    )


def look(lab: NotebookPage, state: str) -> list[str]:
    """What axe-core says of the panel in both themes and widths; a picture of each is left behind."""
    faults = []
    for theme in lab.themes():
        for width in WIDTHS if lab.looks_closely else WIDTHS[:1]:
            lab.tab.page.set_viewport_size({"width": width, "height": 960})
            lab.show(1)
            lab.picture(f"served-{state}-{width}-{theme}")
            part = ".jp-OutputArea-output:has(.toolbench-served)"
            faults += [f"{state}, {theme}: {v}" for v in violations(lab.tab.page, part)]
    lab.tab.page.set_viewport_size({"width": 1280, "height": 960})
    return faults


@pytest.mark.usefixtures("looks")
def test_calls_are_let_refused_answered(lab: NotebookPage, agent: Agent, nbroot: Path):
    """Each while its agent waits; what became of it stays in the list, and in the saved notebook."""
    panel = alive(lab)
    assert "Moby-Dick" in agent.call("find_books", words="sea").result(PATIENCE)
    lab.wait_for_text("Moby-Dick", within=panel)
    expect(panel.locator(".toolbench-method")).to_have_text("My agent:")
    assert gap_after_agent(panel) < 1

    first, second = (agent.call("delete_volume", volume=n) for n in (3, 4))
    expect(panel.get_by_role("button", name="Answer by hand")).to_have_count(2)
    faults = look(lab, "consent")
    asked = panel.locator(".toolbench-waiting", has_text="volume = 3")
    press(asked, "Run delete_volume")
    assert first.result(PATIENCE) == "volume 3 is gone"
    # its agent has the result before the page has taken its buttons away
    expect(panel.get_by_role("button", name="Refuse", exact=True)).to_have_count(1)
    press(panel, "Refuse")
    lab.type_into("Why not", "It is still read.", within=panel)
    press(panel, "Refuse it")
    assert "declined: It is still read." in second.result(PATIENCE)

    press(panel, "Pause")
    lab.wait_for_text("paused", within=panel)
    third, fourth = (agent.call("find_books", words=w) for w in ("whale", "sun"))
    expect(panel.get_by_role("button", name="Answer by hand")).to_have_count(2)
    panel.get_by_role("button", name="Answer by hand").first.click()
    lab.type_into("Result in place of find_books", "None is left.", within=panel)
    faults += look(lab, "by-hand")
    press(panel, "Give this answer")
    press(panel, "Resume")
    texts = {third.result(PATIENCE), fourth.result(PATIENCE)}
    assert "None is left." in texts and len(texts) == 2

    lent = agent.call("lend", title="Typee")
    lab.type_into("days", "14", within=panel)
    press(panel, "Accept")
    assert lent.result(PATIENCE) == "for 14 days"
    lab.wait_for_text("for 14 days", within=panel)

    calls = panel.get_by_role("listbox", name="Calls")
    calls.focus()
    for key in ("ArrowDown", "Enter"):
        lab.tab.page.keyboard.press(key)
    press(panel, "Open in panel")
    expect(panel.get_by_label("title", exact=True)).to_have_value("Typee")
    faults += look(lab, "opened")

    lab.run(2)
    lab.wait_for_text("stopped", within=panel)

    def saved() -> str:
        lab.save()
        return "".join(o["data"]["text/html"] for o in lab.outputs(1) if "data" in o)

    # The page may show that the server stopped before it has the view to save
    for answer in ("It is still read.", "None is left."):
        eventually(lambda text=answer: text in saved(), what=f"{answer!r} in the notebook")
    token = (nbroot / "where.txt").read_text().split()[1]
    assert lab.tab.shared
    assert token not in lab.tab.shared.read_text()
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []
