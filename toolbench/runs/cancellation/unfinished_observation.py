"""The observation of a run that was refused or stopped; this is not a failure of the tool."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from toolbench.core.content import Content
from toolbench.core.schema import Observation


class UnfinishedObservation(Observation):
    """The observation of a run that was refused or stopped; its text gives the reason.

    `is_error` is true because there is no full result. The model does not get the header of a
    failed call.
    """

    is_error: bool = True
    for_person: str = ""
    """A sentence for the person who declined, in place of the text that a model reads."""

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content for the model, without a header."""
        return self.content

    @property
    def visualize(self) -> RenderableType:
        """The view for people: the sentence for the person, or the text, in the colour of a warning."""
        return Text(self.for_person or self.text, style="yellow")
