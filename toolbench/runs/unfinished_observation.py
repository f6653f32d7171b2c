"""The observation of a run that was refused or stopped, which is not a failure of the tool."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from rich.console import Group, RenderableType
from rich.text import Text

from toolbench.core.content import Content, TextContent
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model, visualized
from toolbench.runs.control import Stop


class UnfinishedObservation(Observation):
    """The observation of a run that was refused or stopped; its text gives the reason.

    `is_error` is true if there is no result. Even then, the text for the model does not begin with
    the header of failed calls.
    """

    is_error: bool = True
    for_person: str = ""
    """A sentence for the user who declined, which replaces the text for the model."""
    partial: SkipJsonSchema[Observation | None] = Field(default=None, exclude=True, repr=False)
    """The observation that the tool returned after it was stopped.

    It is set only if the class of that observation writes the text for a model itself. `to_dict`
    leaves it out, but a record in a file has its fields. `content` has the text for the model.
    """

    def __getattr__(self, name: str) -> Any:
        """Return the field *name* of the partial result, such as the exit code of a command."""
        partial = self.__dict__.get("partial")
        if partial is None or name.startswith("_"):
            # Of pydantic
            return super().__getattr__(name)
        return getattr(partial, name)

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content for the model, without the words that mark a failed call."""
        return self.content

    @property
    def visualize(self) -> RenderableType:
        """The view for the user: `for_person`, or else the text, in the colour of a warning.

        If there is a partial result, its own view is shown, and the last line of the text is below
        it.
        """
        if self.partial is not None:
            note = Text(self.text.rpartition("\n")[2], style="yellow")
            view = visualized(self.partial)
            # As one text, so that a page can wrap its lines
            if isinstance(view, str | Text):
                return Text.assemble(view, "\n", note)
            return Group(view, note)
        return Text(self.for_person or self.text, style="yellow")


def partial_result(observation: Observation, why: Stop) -> Observation:
    """Add a note about the stop to *observation*, which a tool returned after it was stopped.

    The note is the last line that the model sees. If the class of *observation* has its own
    `to_llm_content`, the result is an `UnfinishedObservation` that contains *observation*.
    """
    note = f"[{why.sentence}. The result above may be incomplete.]"
    if type(observation).to_llm_content is Observation.to_llm_content:
        text = TextContent(text=note)
        if observation.text:
            text = TextContent(text=f"\n{note}")
        content = [*observation.content, text]
        return observation.model_copy(update={"content": content})
    read = [*read_by_model(observation), TextContent(text=f"\n{note}")]
    return UnfinishedObservation(content=read, is_error=observation.is_error, partial=observation)
