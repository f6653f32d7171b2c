"""Send a result to the page, in pieces, when a person saves it."""

from collections.abc import Callable, Mapping
from typing import Any

from toolbench.display.saved_result import SavedFile
from toolbench.errors import ToolbenchError

# Bytes of one message
_PIECE = 500_000


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
        self._id = ""
        self._files: list[SavedFile] = []
        widget.on_msg(lambda _, content, buffers: self._hear(content))

    def forget(self) -> None:
        """Forget the files that the page has asked for."""
        self._id, self._files = "", []

    def _hear(self, content: Mapping[str, Any]) -> None:
        match content:
            # Asked again if the answer was lost
            case {"save": str(save), "card": int(card)}:
                self._begin(save, card)
            case {"save": self._id, "file": int(file), "begin": int(begin)}:
                piece = self._files[file].content[begin : begin + _PIECE]
                self._widget.send(dict(content), [piece])
            case {"save": self._id}:
                self.forget()

    def _begin(self, save: str, card: int) -> None:
        """Tell the page which files there are, or why there are none."""
        self.forget()
        try:
            files = self._files_of(card)
        except ToolbenchError as error:
            self._widget.send({"save": save, "problem": str(error)})
        except Exception as error:  # noqa: BLE001 - a tool's own objects may do anything
            problem = f"The result cannot be saved: {type(error).__name__}."
            self._widget.send({"save": save, "problem": problem})
        else:
            self._id, self._files = save, files
            named = [
                {"name": file.name, "type": file.type, "size": len(file.content)} for file in files
            ]
            self._widget.send({"save": save, "files": named})
