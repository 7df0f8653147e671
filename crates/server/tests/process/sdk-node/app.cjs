// A small Express shop that visits itself, then ends; the SDK exports on shutdown.
const { SeverityNumber, logs } = require("@opentelemetry/api");
const express = require("express");

const app = express();
app.get("/books", (_request, response) => {
  logs.getLogger("shop").emit({ severityNumber: SeverityNumber.INFO, severityText: "INFO", body: "books listed" });
  response.json([]);
});
app.get("/boom", () => {
  throw new Error("shelf is empty");
});

const server = app.listen(0, "127.0.0.1", async () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  for (const path of ["/books", "/boom", "/nowhere"]) {
    await fetch(base + path).then((response) => response.text());
  }
  server.close(() => process.kill(process.pid, "SIGTERM"));
});
