"""Write tools of a notebook as packages, and a server's tools as a typed module."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.export.package import export_package as export_package
    from toolbench.export.stubs import export_stubs as export_stubs

__getattr__, __dir__, __all__ = public_names(__name__)
