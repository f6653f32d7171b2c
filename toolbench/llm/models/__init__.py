"""Models: scripted, recorded, local, behind a provider's client or an address, or you."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.llm.models.convert import as_model as as_model
    from toolbench.llm.models.local import LocalModel as LocalModel
    from toolbench.llm.models.model import Answer as Answer
    from toolbench.llm.models.model import Chunk as Chunk
    from toolbench.llm.models.model import Model as Model
    from toolbench.llm.models.model import Price as Price
    from toolbench.llm.models.model import Usage as Usage
    from toolbench.llm.models.person import PersonModel as PersonModel
    from toolbench.llm.models.person import PersonRequest as PersonRequest
    from toolbench.llm.models.recorded import RecordedModel as RecordedModel
    from toolbench.llm.models.scripted import ScriptedModel as ScriptedModel
    from toolbench.runs.control import CancelToken as CancelToken

__getattr__, __dir__, __all__ = public_names(__name__)
