"""Hostile text through every door, in a real page with a tripwire: nothing fires."""

import re
from pathlib import Path

import pytest
from patience import eventually
from payloads import PAYLOADS

from browser.lab import NotebookPage, write_notebook
from browser.tripwire import TRIPWIRE, show_safely

TESTS = Path(__file__).parents[1]
# How many cells show a collection. A kernel's messages wait in a queue of ZeroMQ with room for
# 1,000, which is told of what was read in steps of 500: from a burst of more than that some
# are lost when the server has no time to read. Each cell here sends fewer than 300.
PANEL_CELLS, FORM_CELLS, QUESTION_CELLS, STATIC_CELLS = 4, 2, 3, 3
# What a reader's mouse and keyboard would set off, on everything the cells show.
POKE = """
    () => {
      const kinds = ["mouseover", "mouseenter", "mousemove", "focus", "toggle", "animationstart",
                     "begin", "load", "error", "start", "pointerover"];
      for (const element of document.querySelectorAll(".jp-OutputArea-output *"))
        for (const kind of kinds) element.dispatchEvent(new Event(kind));
    }
"""
# Elements and attributes that could do something, in what the cells show.
DANGERS = """
    () => {
      const found = [];
      for (const element of document.querySelectorAll(".jp-OutputArea-output *")) {
        const name = element.tagName.toLowerCase();
        if (["script", "iframe", "object", "embed", "base", "meta", "link", "frame", "marquee",
             "math", "video", "audio"].includes(name)) found.push(name);
        for (const {name, value} of element.attributes) {
          if (name.startsWith("on")) found.push(`${name}=${value}`);
          if (["href", "src", "action", "formaction", "data", "xlink:href"].includes(name)
              && /^\\s*(java|vb)script:|^data:text|^\\/\\/|^file:|^blob:/i.test(value))
            found.push(`${name}=${value}`);
        }
      }
      return found;
    }
"""
SETUP = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from payloads import PAYLOADS
%load_ext toolbench
import comm
import ipywidgets as w
from IPython.display import HTML, SVG, Markdown, display
from toolbench import Action, Observation, TextContent, bench, current_run, history, tool
from toolbench.display.objects import action_bundle, tool_bundle
from toolbench.display.live_results import observation_bundle
from toolbench.runs.questions import Answer, Question
from toolbench.runs.run import Run
from toolbench.widgets.panel.panel import ToolPanel, open_panels
from toolbench.widgets.form.question import QuestionView
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.ticker import ticker
"""
# Every payload through the panel: name, title, description, argument, default, choice,
# progress, log, output, display, error, result, and the tabs.
PANELS = """
shown = []
def hostile_tool(payload):
    def work(text: str = payload) -> Observation:
        run = current_run()
        run.progress(1, 2, payload)
        run.log(payload, payload)
        print(payload)
        for show in (HTML, Markdown, SVG):
            try:
                display(show(payload))
            except Exception:
                display({"image/svg+xml": payload, "text/plain": payload}, raw=True)
        if text:
            raise ValueError(payload)
        return Observation(content=[TextContent(text=payload)])
    work.__name__ = "work"
    made = tool(work, title=payload.strip() or "x")
    return made.model_copy(update={"description": payload, "name": payload.strip() or "x"})

def run_all(payloads):
    panels = []
    for payload in payloads:
        for given in ({"text": payload}, {"text": ""}):
            panel = ToolPanel(hostile_tool(payload), given)
            panel.run()
            panels.append(panel)
    for panel in panels:
        panel.runs.latest.done.wait(60)
    ticker.wait_idle(60)
    return panels

def markup_of(panel):
    # what a panel sends as markup, as the page would show it, without forms: they are many
    parts = [panel._head, panel.runs.report._result, panel.runs.report._clock, panel.runs.report._state]
    return [part.value for part in (*parts, *panel.runs.report._log._widgets)]

class Nowhere(comm.base_comm.BaseComm):
    def publish_msg(self, *args, **options):
        pass

create, comm.create_comm = comm.create_comm, Nowhere  # the page sees only what is shown below
try:
    for start in range(0, len(PAYLOADS), 20):
        for panel in run_all(PAYLOADS[start:start + 20]):
            shown += markup_of(panel)
            panel.close()
finally:
    comm.create_comm = create
assert len(shown) > 10 * len(PAYLOADS), len(shown)
markup, parts = list(dict.fromkeys(shown)), Parts()
"""
DISPLAYS = """
w.VBox([parts.html(part) for part in markup[some]])
"""
# A few whole panels, forms and all, each with many payloads in its schema.
FORM_TOOL = """
from toolbench.core.declarations import ToolAnnotations
from toolbench.mcp.tool import MCPToolDefinition
def form_tool(payloads):
    properties = {}
    for n, payload in enumerate(payloads):
        properties[payload or "x"] = {
            "type": "string", "title": payload, "description": payload, "default": payload,
            **({"enum": [payload, "other"]} if n % 3 == 0 else {}),
            **({"examples": [payload], "pattern": "^x"} if n % 3 == 1 else {}),
        }
    schema = {"type": "object", "title": payloads[0], "description": payloads[0],
              "properties": properties}
    def execute(action):
        return Observation.from_text("\\n".join(payloads))
    return MCPToolDefinition(name=payloads[1] or "x", description=payloads[2], server=payloads[3],
                             remote_name="x", schema=schema, executor=execute,
                             annotations=ToolAnnotations(readOnlyHint=True))

"""
FORMS = """
panels = []
for start in range(0, len(PAYLOADS) - 10, 25)[some]:
    several = PAYLOADS[start:start + 25]
    panel = ToolPanel(form_tool(several), {several[0]: several[1], several[4]: 3})
    panel.form.reveal_errors()
    panel.run(unchecked=True)
    panels.append(panel)
for panel in panels:
    for index in (1, 2, 3, 4, 0):
        panel.tabs.widget.selected_index = index
    assert panel.runs.latest.done.wait(60)
ticker.wait_idle(60)
w.VBox(panels)
"""
QUESTIONS = """
w.VBox([
    part
    for payload in PAYLOADS[some]
    for part in QuestionView(Question.about(payload, None, payload), print).widgets
])
"""
# What is saved with the notebook and read without a kernel.
SHOW = """
def show(data):
    display({"text/html": data["text/html"], "text/plain": data["text/plain"]}, raw=True)
"""
STATIC = """
for payload in PAYLOADS[some]:
    tool_ = hostile_tool(payload)
    show(tool_bundle(tool_))
    show(tool_bundle(tool_, {payload: payload}))
    observation = Observation(content=[TextContent(text=payload)], is_error=True)
    show(observation_bundle(observation))
    show(action_bundle(tool_.action_type(text=payload)))
for record in list(history())[some]:
    show(record._repr_mimebundle_())
"""
SUMS = """
show(history()._repr_mimebundle_())
show(bench([hostile_tool(payload) for payload in PAYLOADS])._repr_mimebundle_())
"""
CONTROL = """
w.HTML("<img src=x onerror=tripwire('control')><img src=https://tripwire.invalid/control.png>")
"""


@pytest.fixture
def armed(new_lab: NotebookPage) -> NotebookPage:
    """A JupyterLab whose page remembers what ran in it."""
    new_lab.tab.page.add_init_script(TRIPWIRE)
    new_lab.tab.page.on("dialog", lambda dialog: dialog.accept("a dialog opened"))
    return new_lab


def slices(cell: str, count: int) -> list[str]:
    """The cells that together show what *cell* shows of its collection."""
    return [f"some = slice({index}, None, {count})\n{cell}" for index in range(count)]


class TestInjection:
    @pytest.mark.long
    def test_no_payload_fires(self, armed: NotebookPage, nbroot: Path):
        """Each goes through names, arguments, progress, logs, output, errors, results, forms."""
        assert len(PAYLOADS) >= 60
        unseen = [SETUP, PANELS, FORM_TOOL, SHOW]
        hostile = [
            *((cell, 1500) for cell in slices(DISPLAYS, PANEL_CELLS)),
            *((cell, 1200) for cell in slices(FORMS, FORM_CELLS)),
            *((cell, 250) for cell in slices(QUESTIONS, QUESTION_CELLS)),
            *((cell, 3000) for cell in slices(STATIC, STATIC_CELLS)),
            (SUMS, 20),
        ]
        cells = [*unseen, *(cell for cell, _ in hostile), CONTROL]
        write_notebook(nbroot / "hostile.ipynb", *cells)
        page = armed.tab.page
        armed.open("hostile.ipynb")
        for index in range(len(unseen)):
            armed.run(index)
            assert armed.errors() == []
        for index, (_, elements) in enumerate(hostile, len(unseen)):
            show_safely(armed, index, elements, poke=POKE, dangers=DANGERS)
        assert re.search("tripwire", page.locator("body").inner_text())

        # The wire would have been tripped
        armed.run(len(cells) - 1)
        eventually(lambda: page.evaluate("window.fired"), what="it fires")
        assert page.evaluate("window.fired") == ["control"]
        assert armed.tab.foreign_requests == ["https://tripwire.invalid/control.png"]
