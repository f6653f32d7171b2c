"""The notebook that is an application, in Voila."""

from pathlib import Path
from shutil import copy

import pytest
from playwright.sync_api import expect

from browser.lab import VoilaPage

APP = Path(__file__).parents[2] / "notebooks/app.ipynb"


@pytest.mark.front_end("Voila", "load", "type", "run")
@pytest.mark.long
def test_somebody_uses_it(voila: VoilaPage, nbroot):
    """A person who sees no code types a message and reads the answer."""
    copy(APP, nbroot)
    voila.open(APP.name)
    voila.type_into("message", "Wkh wrzhu lv rshq")
    voila.click("Run")
    voila.wait_for_text("The tower is open")
    expect(voila.tab.page.get_by_text("def decipher")).to_have_count(0)
    voila.picture("app")
