"""One request, one queue run and one unmatched root through the Python SDK, then a clean shutdown."""

import os

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind

if os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("shop")

request = {"http.request.method": "POST", "http.route": "/orders/{id}", "http.response.status_code": 201}
with tracer.start_as_current_span("POST /orders/{id}", kind=SpanKind.SERVER, attributes=request):
    with tracer.start_as_current_span("INSERT orders", kind=SpanKind.CLIENT):
        pass
with tracer.start_as_current_span("orders process", kind=SpanKind.CONSUMER):
    pass
with tracer.start_as_current_span("sweep", kind=SpanKind.INTERNAL):
    pass
provider.shutdown()
