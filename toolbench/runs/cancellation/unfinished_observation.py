"""What is left of a run that was refused or stopped: no failure of its tool, and not said to be one."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from toolbench.core.content import Content
from toolbench.core.schema import Observation


class UnfinishedObservation(Observation):
    """Says in its content why nothing, or not all, was done: a person said no, or stopped it.

    `is_error` is true, as nothing can be built on it; the header of a failed call is left out.
    """

    is_error: bool = True

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """What the model reads: the content as it is."""
        return self.content

    @property
    def visualize(self) -> RenderableType:
        """What a person sees: the text, in the colour of a warning."""
        return Text(self.text, style="yellow")
