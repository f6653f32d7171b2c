"""OpenTelemetry spans, if the user has configured a tracer.

Names and attributes are those of the GenAI semantic conventions v0.1.0
(https://github.com/open-telemetry/semantic-conventions-genai). This module never imports
OpenTelemetry: a user who has configured a tracer has imported it.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any, Literal
from warnings import warn

from toolbench._version import __version__

SCOPE = "toolbench"
"""The name of the instrumentation scope of all spans."""
Attributes = Mapping[str, str | int | float | bool | list[str]]
# Set for all GenAI instrumentations of a process; `EVENT_ONLY` wants none on spans
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_YES = ("true", "span_only", "span_and_event")


class Tracing:
    """Makes the spans of this process; without a configured tracer it does nothing."""

    def __init__(self) -> None:
        """Omit arguments, results and messages from spans, unless the environment asks for them."""
        self.content: bool | None = None
        """Whether spans have arguments, results and messages; if None, the environment decides."""
        # The provider of the tracer, and the tracer: it takes 7 µs to make
        self._tracer: tuple[Any, Any] = None, None

    @property
    def wants_content(self) -> bool:
        """Whether spans have arguments, results and messages, without known secrets."""
        if self.content is None:
            return os.environ.get(_CAPTURE, "").lower() in _YES
        return self.content

    def begin(
        self,
        name: str,
        attributes: Attributes,
        *,
        kind: Literal["INTERNAL", "CLIENT"],
        around: Any = None,
    ) -> Any:
        """Return a new span, or None if no tracer is configured.

        The parent is the current span. If there is no current span, for example in a thread that a
        tool has started, the parent is *around*. To make the new span the current span, pass it to
        `use`.
        """
        api = sys.modules.get("opentelemetry.trace")
        # Another thread may import it just now
        if not hasattr(api, "get_tracer_provider"):
            return None
        try:
            return self._begun(api, name, attributes, kind, around)
        except Exception as error:  # noqa: BLE001 - a sampler may be a user's code, and a run goes on without it
            _warn_of(name, error)
            return None

    def _begun(self, api: Any, name: str, attributes: Attributes, kind: str, around: Any) -> Any:
        provider = api.get_tracer_provider()
        # It stands for one that may be configured later
        if isinstance(provider, api.ProxyTracerProvider):
            return None
        known, tracer = self._tracer
        if known is not provider:
            tracer = provider.get_tracer(SCOPE, __version__)
            self._tracer = provider, tracer
        context = None
        if around is not None and not api.get_current_span().get_span_context().is_valid:
            context = api.set_span_in_context(around)
        return tracer.start_span(
            name, context=context, kind=api.SpanKind[kind], attributes=attributes
        )

    def use(self, span: Any) -> Any:
        """Make *span* the current span of a `with` block, without ending it after the block.

        If *span* is None, do nothing.
        """
        if span is None:
            return nullcontext()
        return sys.modules["opentelemetry.trace"].use_span(
            span, record_exception=False, set_status_on_exception=False
        )

    def end(self, span: Any, attributes: Attributes, *, error: str = "", message: str = "") -> None:
        """Add *attributes* to *span*, and end it; *error* names the class of an error, if any."""
        if span is None:
            return
        try:
            span.set_attributes(attributes)
            if error:
                api = sys.modules["opentelemetry.trace"]
                span.set_attribute("error.type", error)
                span.set_status(api.StatusCode.ERROR, message or None)
            span.end()
        except Exception as raised:  # noqa: BLE001 - a processor may be a user's code, as in `begin`
            _warn_of("this run", raised)

    def carrier(self, span: Any) -> dict[str, str]:
        """Return *span* as W3C trace context, which `continued` accepts in another process."""
        carrier = dict[str, str]()
        if span is not None:
            with self.use(span):
                # Who configures a tracer may have imported no more than that
                import_module("opentelemetry.propagate").inject(carrier)
        return carrier

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[None]:
        """Run the `with` block in a new span; if the block raises an error, the span has failed."""
        span, error = self.begin(name, attributes, kind="INTERNAL"), ""
        try:
            with self.use(span):
                yield
        except BaseException as raised:
            # An interrupt ends it too
            error = type(raised).__name__
            raise
        finally:
            self.end(span, {}, error=error)

    @contextmanager
    def continued(self, carrier: Mapping[str, str]) -> Iterator[None]:
        """Make the span that `carrier` returned the current span in the `with` block."""
        context, propagate = map(
            sys.modules.get, ("opentelemetry.context", "opentelemetry.propagate")
        )
        if not carrier or context is None or propagate is None:
            yield
            return
        token = context.attach(propagate.extract(carrier))
        try:
            yield
        finally:
            context.detach(token)


def _warn_of(name: str, error: Exception) -> None:
    msg = f"OpenTelemetry made no span of {name}: {type(error).__name__}: {error}"
    warn(msg, RuntimeWarning, stacklevel=3)


tracing = Tracing()
"""The spans of this process."""
