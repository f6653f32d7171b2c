"""The tool that asks for a summary of a long conversation."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.request_condensation.definition import (
        CondensationRequestAction as CondensationRequestAction,
    )
    from toolbench.tools.request_condensation.definition import (
        CondensationRequestObservation as CondensationRequestObservation,
    )
    from toolbench.tools.request_condensation.definition import (
        CondensationRequestTool as CondensationRequestTool,
    )
    from toolbench.tools.request_condensation.impl import (
        CondensationRequestExecutor as CondensationRequestExecutor,
    )

__getattr__, __dir__, __all__ = public_names(__name__)
