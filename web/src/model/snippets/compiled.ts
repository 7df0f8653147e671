// Backends in Go, Java and .NET.
import { environment, request, SERVICE, type Snippet, type Target } from "./types";

export function go(target: Target): Snippet {
  return {
    key: "go",
    label: "Go",
    group: "Backend",
    offersGrpc: true,
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `[ -e go.mod ] || go mod init example.com/${SERVICE}
go get go.opentelemetry.io/otel/sdk@v1.47.0 go.opentelemetry.io/otel/sdk/metric@v1.47.0 go.opentelemetry.io/otel/sdk/log@v1.47.0 \\
  go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptrace${target.protocol}@v1.47.0 \\
  go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetric${target.protocol}@v1.47.0 \\
  go.opentelemetry.io/otel/exporters/otlp/otlplog/otlplog${target.protocol}@v0.23.0 \\
  go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp@v0.72.0 \\
  go.opentelemetry.io/contrib/bridges/otelslog@v0.21.0`,
      },
      {
        title: "Start telemetry: telemetry.go",
        language: "go",
        file: "telemetry.go",
        code: `package main

import (
	"context"
	"errors"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlplog${target.protocol}"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetric${target.protocol}"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptrace${target.protocol}"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

// startTelemetry reads the OTEL_ variables. The function that it returns sends what is still queued.
func startTelemetry(ctx context.Context) (func(context.Context) error, error) {
	spans, err := otlptrace${target.protocol}.New(ctx)
	if err != nil {
		return nil, err
	}
	points, err := otlpmetric${target.protocol}.New(ctx)
	if err != nil {
		return nil, err
	}
	records, err := otlplog${target.protocol}.New(ctx)
	if err != nil {
		return nil, err
	}
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(points)))
	loggers := log.NewLoggerProvider(log.WithProcessor(log.NewBatchProcessor(records)))

	otel.SetTracerProvider(tracers)
	otel.SetMeterProvider(meters)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	slog.SetDefault(otelslog.NewLogger("app", otelslog.WithLoggerProvider(loggers)))

	return func(ctx context.Context) error {
		return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx), loggers.Shutdown(ctx))
	}, nil
}`,
      },
      {
        title: "An app to try it with: main.go",
        language: "go",
        file: "main.go",
        code: `package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	flush, err := startTelemetry(ctx)
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	// Each handler is wrapped inside of the mux: there its pattern, which becomes http.route, is known.
	handle := func(pattern string, handler http.HandlerFunc) {
		mux.Handle(pattern, otelhttp.NewHandler(handler, pattern))
	}
	handle("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		slog.InfoContext(r.Context(), "user asked for", "id", r.PathValue("id"))
		fmt.Fprintf(w, "user %s\\n", r.PathValue("id"))
	})

	server := &http.Server{Addr: "localhost:${target.port}", Handler: mux}
	go server.ListenAndServe()
	<-ctx.Done()
	server.Shutdown(context.Background())
	if err := flush(context.Background()); err != nil {
		log.Print(err)
	}
}`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target)}
go build -o ${SERVICE} . && ./${SERVICE}`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/{id}", service: SERVICE },
    note: "Other routers name their routes with middleware of their own: otelchi for chi, and otelgin, otelecho and otelmux from go.opentelemetry.io/contrib/instrumentation. Use it instead of otelhttp.NewHandler.",
  };
}

export function java(target: Target): Snippet {
  return {
    key: "java",
    label: "Java",
    group: "Backend",
    offersGrpc: true,
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "Get the agent",
        language: "sh",
        code: "curl -fsSLo opentelemetry-javaagent.jar https://repo1.maven.org/maven2/io/opentelemetry/javaagent/opentelemetry-javaagent/2.33.1/opentelemetry-javaagent-2.33.1.jar",
      },
      {
        title: "An app to try it with: App.java",
        language: "java",
        file: "App.java",
        code: `import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.logging.Logger;

public class App {
  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("localhost", ${target.port}), 0);
    server.createContext("/users/", exchange -> {
      String id = exchange.getRequestURI().getPath().substring("/users/".length());
      Logger.getLogger("app").info("user " + id + " asked for");
      byte[] body = ("user " + id + "\\n").getBytes();
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }
}`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target)}
javac App.java
java -javaagent:opentelemetry-javaagent.jar App # or -jar app.jar`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/", service: SERVICE },
    note: "Spring, Quarkus, Micronaut, Kafka, JDBC, Logback, Log4j and most of the rest need no code changes. Spring's routes arrive as GET /users/{id}.",
  };
}

export function dotnet(target: Target): Snippet {
  return {
    key: "dotnet",
    label: ".NET",
    group: "Backend",
    offersGrpc: true,
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `dotnet new web --output ${SERVICE} && cd ${SERVICE} # for the example
dotnet add package OpenTelemetry.Extensions.Hosting
dotnet add package OpenTelemetry.Exporter.OpenTelemetryProtocol
dotnet add package OpenTelemetry.Instrumentation.AspNetCore
dotnet add package OpenTelemetry.Instrumentation.Http`,
      },
      {
        title: "Program.cs",
        language: "csharp",
        file: "Program.cs",
        code: `using OpenTelemetry;
using OpenTelemetry.Logs;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddOpenTelemetry()
    .WithTracing(tracing => tracing
        .AddAspNetCoreInstrumentation(options => options.RecordException = true)
        .AddHttpClientInstrumentation())
    .WithMetrics(metrics => metrics
        .AddAspNetCoreInstrumentation()
        .AddHttpClientInstrumentation())
    .WithLogging()
    .UseOtlpExporter(); // reads the OTEL_ variables

var app = builder.Build();
app.MapGet("/users/{id}", (string id, ILogger<Program> log) =>
{
    log.LogInformation("user {Id} asked for", id);
    return $"user {id}\\n";
});
app.Run("http://localhost:${target.port}");`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target)}
dotnet run`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/{id}", service: SERVICE },
    note: "Add OpenTelemetry.Instrumentation.SqlClient, .EntityFrameworkCore or .Runtime for more. The host sends what is queued when it stops.",
  };
}
