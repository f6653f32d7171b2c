"""Send a result to the page, in pieces, when a person saves it."""

from collections.abc import Callable, Mapping
from typing import Any

from toolbench.display.saved_result import SavedFile
from toolbench.errors import ToolbenchError

# Bytes of one message
_PIECE = 500_000
# Cards of a result: for a person and for the model, each of which may be saved while the other is
_CARDS = 2


class ResultSaving:
    """Answers the page (`frontend/src/saving.ts`), which asks for the files of a card, then for each piece.

    The files are made when they are asked for: a view has only the first part of a large result.
    """

    def __init__(self, widget: Any, files_of: Callable[[int], list[SavedFile]]) -> None:
        """Listen to the page.

        Args:
            widget: The widget with the cards of the result.
            files_of: Returns the files of the card with this number in the widget.
        """
        self._widget, self._files_of = widget, files_of
        # By the id that the page gives each save
        self._saves: dict[str, list[SavedFile]] = {}
        widget.on_msg(lambda _, content, buffers: self._hear(content))

    def forget(self) -> None:
        """Forget the files that the page has asked for."""
        self._saves.clear()

    def _hear(self, content: Mapping[str, Any]) -> None:
        match content:
            # Asked again if the answer was lost
            case {"save": str(save), "card": int(card)}:
                self._begin(save, card)
            case {"save": str(save), "file": int(file), "begin": int(begin)} if save in self._saves:
                piece = self._saves[save][file].content[begin : begin + _PIECE]
                self._widget.send(dict(content), [piece])
            case {"save": str(save)}:
                self._saves.pop(save, None)

    def _begin(self, save: str, card: int) -> None:
        """Tell the page which files there are, or why there are none."""
        try:
            files = self._files_of(card)
        except ToolbenchError as error:
            self._widget.send({"save": save, "problem": str(error)})
        except Exception as error:  # noqa: BLE001 - a tool's own objects may do anything
            problem = f"The result cannot be saved: {type(error).__name__}."
            self._widget.send({"save": save, "problem": problem})
        else:
            self._saves[save] = files
            # A page may have been closed before it had all
            for earlier in [*self._saves][:-_CARDS]:
                del self._saves[earlier]
            named = [
                {"name": file.name, "type": file.type, "size": len(file.content)} for file in files
            ]
            self._widget.send({"save": save, "files": named})
