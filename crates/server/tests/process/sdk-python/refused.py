"""Sends one span through the Python SDK to a server that refuses at first; prints the result of the export."""

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SimpleSpanProcessor
from opentelemetry.trace import SpanKind


class Printing(SpanExporter):
    def __init__(self):
        self.exporter = OTLPSpanExporter(timeout=60)

    def export(self, spans):
        result = self.exporter.export(spans)
        print(result.name, flush=True)
        return result

    def shutdown(self):
        self.exporter.shutdown()


provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(Printing()))
request = {"http.request.method": "GET", "http.route": "/refused", "http.response.status_code": 200}
with provider.get_tracer("shop").start_as_current_span("GET /refused", kind=SpanKind.SERVER, attributes=request):
    pass
provider.shutdown()
