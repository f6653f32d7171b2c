"""The observation of a run that was refused or stopped; this is not a failure of the tool."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from toolbench.core.content import Content
from toolbench.core.schema import Observation


class UnfinishedObservation(Observation):
    """An observation that says why a run did not start or not end: a person refused or stopped it.

    `is_error` is true, as there is no full result; the header of a failed call is left out.
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
