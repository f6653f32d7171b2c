"""The form to connect a server of a registry, in JupyterLab: filled in, shown, agreed to."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_mcp.peers import LIGHT
from test_mcp.registry_server import RecordedRegistry, published

from browser.lab import NotebookPage

SECRET = "s3cret-value-77"
PACKAGE = {
    "registryType": "pypi",
    "identifier": "weather-mcp",
    "version": "1.2.0",
    "transport": {"type": "stdio"},
    "packageArguments": [
        {
            "type": "positional",
            "valueHint": "city",
            "isRequired": True,
            "description": "The city of the forecast",
            "placeholder": "Oslo",
        },
        {"type": "named", "name": "--days", "default": "3", "format": "number"},
    ],
    "environmentVariables": [
        {
            "name": "WEATHER_KEY",
            "description": "Your key for the weather service",
            "isRequired": True,
            "isSecret": True,
        },
        {"name": "WEATHER_UNIT", "choices": ["C", "F"], "default": "C"},
    ],
}
WEATHER = published(
    "io.github.example/weather",
    title="Weather",
    description="Forecasts of the weather, by city and day.",
    version="1.2.0",
    status="deprecated",
    message="Use weather-2 in new notebooks.",
    repository={"url": "https://github.com/example/weather", "source": "github"},
    packages=[PACKAGE],
    remotes=[
        {
            "type": "streamable-http",
            "url": "https://{team}.example.com/mcp",
            "variables": {"team": {"isRequired": True, "description": "Your team"}},
        }
    ],
)


@pytest.mark.usefixtures("looks")
def test_a_server_of_a_registry_is_connected_after_a_yes(
    lab: NotebookPage, nbroot: Path, tmp_path: Path
) -> None:
    """The second way; its command is shown, and the secret stays out of the notebook."""
    program = tmp_path / "uvx"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {LIGHT} "$@"\n')
    program.chmod(0o755)
    with RecordedRegistry(WEATHER).serving() as url:
        setup = (
            "%load_ext toolbench\n"
            f"import os; os.environ['PATH'] = '{tmp_path}:' + os.environ['PATH']\n"
            f"%config Toolbench.registry = '{url}'"
        )
        lab.share(
            setup,
            "%mcp registry weather",
            "%mcp connect weather --registry io.github.example/weather",
        )
        for cell in range(3):
            lab.run(cell)
        form = lab.output(2)
        lab.show(1)
        for theme in lab.themes():
            lab.picture(f"registry-form-{theme}")
        form.get_by_label("How it runs").select_option("pypi: weather-mcp")
        lab.click("Show what will run", within=form)
        expect(form.get_by_label("city")).to_be_focused()
        lab.type_into("city", "Oslo; ls", within=form)
        lab.type_into("WEATHER_KEY", SECRET, within=form)
        lab.click("Show what will run", within=form)
        lab.wait_for_text("starts uvx weather-mcp==1.2.0 'Oslo; ls' --days 3", within=form)
        expect(form.get_by_role("button", name="Don't connect")).to_be_focused()
        lab.show(2)
        for theme in lab.themes():
            lab.picture(f"registry-question-{theme}")
        lab.click("Connect", within=form)
        lab.wait_for_text("2 undeclared", within=form)
        lab.show(2)
        for theme in lab.themes():
            lab.picture(f"registry-connected-{theme}")
        lab.save()
        assert lab.tab.shared is not None
        assert SECRET not in lab.tab.shared.read_text()
