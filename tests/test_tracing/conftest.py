"""A tracer that keeps its spans; OpenTelemetry has one for the life of a process, so it is put in place here."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from toolbench.tracing import tracing


class Spans:
    """The spans that have ended."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()

    @property
    def all(self):
        return self.exporter.get_finished_spans()

    def named(self, name):
        """The one span of that name."""
        [span] = [span for span in self.all if span.name == name]
        return span

    def parent(self, name):
        """The name of the parent of the one span of that name; None if it has none."""
        child = self.named(name)
        for span in self.all:
            if child.parent is not None and span.context.span_id == child.parent.span_id:
                return span.name
        return None

    @property
    def traces(self):
        """The number of traces."""
        return len({span.context.trace_id for span in self.all})


@pytest.fixture(scope="module")
def provider():
    """The SDK's tracers keep the first provider that they find: one for the tests of a module."""
    provider = TracerProvider()
    yield provider
    provider.shutdown()


@pytest.fixture
def spans(provider, monkeypatch, no_records):
    """The spans of this test."""
    spans = Spans()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr(tracing, "content", None)
    processor = SimpleSpanProcessor(spans.exporter)
    provider.add_span_processor(processor)
    yield spans
    processor.shutdown()
    provider._active_span_processor._span_processors = ()
