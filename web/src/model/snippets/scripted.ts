// Backends in Node.js, Python, PHP, Ruby and Elixir.
import { environment, request, SERVICE, type Snippet, type Target } from "./types";

export function node(target: Target): Snippet {
  return {
    key: "node",
    label: "Node.js",
    group: "Backend",
    offersGrpc: true,
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `npm install @opentelemetry/api@1.10.0 @opentelemetry/auto-instrumentations-node@0.82.0
npm install express@5 pino@10 # for the example`,
      },
      {
        title: "An app to try it with: app.js",
        language: "js",
        file: "app.js",
        code: `const express = require("express");
const log = require("pino")();

const app = express();
app.get("/users/:id", (request, response) => {
  log.info("user %s asked for", request.params.id);
  response.send(\`user \${request.params.id}\\n\`);
});
const server = app.listen(${target.port});
// The SDK sends what is queued on SIGTERM; the app ends itself.
process.once("SIGTERM", () => server.close());`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target, "OTEL_METRICS_EXPORTER=otlp", "OTEL_LOGS_EXPORTER=otlp")}
node --require @opentelemetry/auto-instrumentations-node/register app.js`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/:id", service: SERVICE },
    note: "Express, Fastify, Koa, Hono, NestJS, Next.js, queues and database clients are traced without code changes; pino, winston and bunyan send their log lines. An app of ES modules takes --import @opentelemetry/auto-instrumentations-node/register too. OpenTelemetry supports Node.js 22.15 or newer.",
  };
}

export function python(target: Target): Snippet {
  return {
    key: "python",
    label: "Python",
    group: "Backend",
    offersGrpc: true,
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "Install, after the packages of your app",
        language: "sh",
        code: `python3 -m venv .venv && . .venv/bin/activate
pip install flask # for the example
pip install opentelemetry-distro==0.66b1 opentelemetry-exporter-otlp-proto-${target.protocol}==1.45.1
# One package at a time: one that cannot be had leaves the others installed.
opentelemetry-bootstrap -a requirements | xargs -n 1 pip install || true`,
      },
      {
        title: "An app to try it with: app.py",
        language: "python",
        file: "app.py",
        code: `import logging

from flask import Flask

app = Flask(__name__)


@app.get("/users/<user_id>")
def user(user_id):
    logging.warning("user %s asked for", user_id)
    return f"user {user_id}\\n"


if __name__ == "__main__":
    app.run(port=${target.port})`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `. .venv/bin/activate
${environment(target, "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED=true")}
opentelemetry-instrument python app.py`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/<user_id>", service: SERVICE },
    note: "Works for Django, Flask, FastAPI, Celery and more. Behind gunicorn or uvicorn put opentelemetry-instrument in front of the command.",
  };
}

export function php(target: Target): Snippet {
  return {
    key: "php",
    label: "PHP",
    group: "Backend",
    signals: ["traces"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `pecl install opentelemetry
composer config allow-plugins.php-http/discovery true
composer config allow-plugins.tbachert/spi true
composer require open-telemetry/sdk open-telemetry/exporter-otlp php-http/guzzle7-adapter
# The instrumentation of your framework: -slim, -symfony, -laravel, -wordpress, -psr15, …
composer require open-telemetry/opentelemetry-auto-slim
composer require slim/slim slim/psr7 # for the example`,
      },
      {
        title: "An app to try it with: index.php",
        language: "php",
        file: "index.php",
        code: `<?php
require __DIR__ . '/vendor/autoload.php';

$app = Slim\\Factory\\AppFactory::create();
$app->get('/users/{id}', function ($request, $response, array $args) {
    $response->getBody()->write("user {$args['id']}\\n");
    return $response;
});
$app->run();`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target, "OTEL_PHP_AUTOLOAD_ENABLED=true")}
php -d extension=opentelemetry.so -S localhost:${target.port} index.php`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/{id}", service: SERVICE },
    note: "Put extension=opentelemetry.so into php.ini, and the variables into the environment of FPM (clear_env = no). Console commands of Symfony and Laravel become Tasks.",
  };
}

export function ruby(target: Target): Snippet {
  return {
    key: "ruby",
    label: "Ruby",
    group: "Backend",
    signals: ["traces"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `[ -e Gemfile ] || bundle init
bundle add opentelemetry-sdk opentelemetry-exporter-otlp opentelemetry-instrumentation-all
bundle add sinatra rackup puma # for the example`,
      },
      {
        title: "Start tracing: telemetry.rb (Rails: config/initializers/opentelemetry.rb)",
        language: "ruby",
        file: "telemetry.rb",
        code: `require "opentelemetry/sdk"
require "opentelemetry/exporter/otlp"
require "opentelemetry/instrumentation/all"

# Reads the OTEL_ variables.
OpenTelemetry::SDK.configure(&:use_all)
at_exit { OpenTelemetry.tracer_provider.shutdown }`,
      },
      {
        title: "An app to try it with: app.rb",
        language: "ruby",
        file: "app.rb",
        code: `require "sinatra"
require_relative "telemetry"

set :port, ${target.port}

get "/users/:id" do
  "user #{params[:id]}\\n"
end`,
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target)}
bundle exec ruby app.rb`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/:id", service: SERVICE },
    note: "Rails, Sinatra, Sidekiq, Active Record, Faraday and more are traced. Jobs become Tasks.",
  };
}

export function elixir({ otlp, token, port }: Target): Snippet {
  return {
    key: "elixir",
    label: "Elixir",
    group: "Backend",
    signals: ["traces"],
    steps: [
      {
        title: "In deps of mix.exs, then mix deps.get",
        language: "elixir",
        code: `[
  {:opentelemetry_exporter, "~> 1.8"},
  {:opentelemetry, "~> 1.5"},
  {:opentelemetry_api, "~> 1.4"},
  {:opentelemetry_phoenix, "~> 2.0"},
  {:opentelemetry_bandit, "~> 0.2"}
]`,
      },
      {
        title: "In config/runtime.exs",
        language: "elixir",
        file: "config/runtime.exs",
        code: `import Config

config :opentelemetry,
  span_processor: :batch,
  traces_exporter: :otlp,
  resource: %{service: %{name: "${SERVICE}"}}

config :opentelemetry_exporter,
  otlp_protocol: :http_protobuf,
  otlp_compression: :gzip,
  otlp_endpoint: "${otlp}",
  otlp_headers: [{"authorization", "Bearer ${token}"}]`,
      },
      {
        title: "At the start of start/2 in lib/my_app/application.ex",
        language: "elixir",
        code: `OpentelemetryBandit.setup()
OpentelemetryPhoenix.setup(adapter: :bandit)`,
      },
      { title: "Run", language: "sh", code: `PORT=${port} mix phx.server` },
    ],
    note: "Endpoints carry the routes of your router, such as GET /users/:id. With Cowboy take opentelemetry_cowboy and adapter: :cowboy2. Ecto, Oban and Broadway have packages of their own. Erlang reads the same settings from sys.config.",
  };
}
