import { getEventListeners, once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EmissionResult } from "../contract/emission-result.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { createHttpEmitter } from "./create-http-emitter.js";
import type { HttpEmitterOptions } from "./http-emitter-options.js";
import { testContext, testEnvelope } from "./test-emission.js";
import { startTestHttpServer } from "./test-http-server.js";

const emit = async (
  options: HttpEmitterOptions,
  envelope = testEnvelope(),
  context = testContext(),
): Promise<EmissionResult> =>
  (await createHttpEmitter(options).emit(envelope, context)) as EmissionResult;

const messageOf = (result: EmissionResult) =>
  ("error" in result ? result.error?.message : "") ?? "";

describe("the request", () => {
  it("is a structured CloudEvent with an idempotency key, unless told otherwise", async () => {
    const server = await startTestHttpServer((_, response) => response.end("thanks"));
    expect(await emit({ url: `${server.url}/events?a=1` })).toEqual({ status: "delivered" });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: "POST",
      path: "/events?a=1",
      headers: {
        "content-type": "application/cloudevents+json; charset=utf-8",
        "idempotency-key": "envelope-1",
      },
    });
    expect(JSON.parse(String(request?.body))).toMatchObject({
      specversion: "1.0",
      id: "envelope-1",
    });
    expect(request?.headers).not.toHaveProperty("traceparent");
  });

  it("sends bytes byte by byte", async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    const payload = Uint8Array.from({ length: 256 }, (_, index) => index);
    await emit(
      { url: server.url, format: "cloudevents-binary", method: "PUT" },
      testEnvelope({ payload, dataContentType: "application/octet-stream" }),
    );
    expect(server.requests[0]).toMatchObject({
      method: "PUT",
      headers: { "content-type": "application/octet-stream", "ce-type": "order.placed" },
    });
    expect(server.requests[0]?.body.equals(payload)).toBe(true);
  });

  it("carries traceparent, and an idempotency key that is not ASCII, under a name of choice", async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await emit(
      { url: server.url, idempotencyHeader: "X-Event-Id", format: "json" },
      testEnvelope({ traceparent }),
      testContext({ idempotencyKey: "Zürich\n1" }),
    );
    const headers = server.requests[0]?.headers;
    expect(headers).toMatchObject({ traceparent, "x-event-id": "Z%C3%BCrich%0A1" });
    expect(headers).not.toHaveProperty("idempotency-key");
  });

  it("can do without an idempotency key", async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    await emit({ url: server.url, idempotencyHeader: null });
    expect(server.requests[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  it("takes url, headers and message from functions, and lets headers sign the body", async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    await emit({
      url: ({ subject }) => new URL(`/orders/${subject}`, server.url),
      format: ({ payload }) => ({
        headers: { "content-type": "text/x-order" },
        body: JSON.stringify({ order: payload }),
      }),
      headers: async (_, { body, attempt }) => ({
        authorization: "Bearer token",
        "x-signature": `${attempt}:${body.length}`,
        "Content-Type": "text/mistaken",
      }),
    });
    expect(server.requests[0]).toMatchObject({
      path: "/orders/order-1",
      headers: {
        authorization: "Bearer token",
        "x-signature": "1:49",
        "content-type": "text/x-order",
      },
    });
  });

  it("uses the fetch that it is given, and otherwise the global one of the moment", async () => {
    const answers: string[] = [];
    const fetchNamed = (name: string) => async () => {
      answers.push(name);
      return new Response(null, { status: 204 });
    };
    await emit({ url: "http://receiver.test", fetch: fetchNamed("given") });
    const emitter = createHttpEmitter({ url: "http://receiver.test" });
    const original = globalThis.fetch;
    onTestFinished(() => {
      globalThis.fetch = original;
    });
    globalThis.fetch = fetchNamed("replaced later");
    await emitter.emit(testEnvelope(), testContext());
    expect(answers).toEqual(["given", "replaced later"]);
  });
});

describe("the result", () => {
  it.each([200, 201, 202, 204])("of %i is delivered", async (status) => {
    const server = await startTestHttpServer((_, response) => response.writeHead(status).end());
    expect(await emit({ url: server.url })).toEqual({ status: "delivered" });
  });

  it("holds the receiver's own id of the message", async () => {
    const server = await startTestHttpServer((_, response) =>
      response.setHeader("X-Message-Id", "m-7").end(),
    );
    const options = { url: server.url, providerMessageIdHeader: "x-message-id" };
    expect(await emit(options)).toEqual({ status: "delivered", providerMessageId: "m-7" });
  });

  it.each([408, 425, 429, 500, 502, 503, 504, 599])(
    "of %i is a retryable failure",
    async (status) => {
      const server = await startTestHttpServer((_, response) =>
        response.writeHead(status).end("try later\r\n"),
      );
      expect(await emit({ url: server.url })).toEqual({
        status: "retryable-failure",
        error: {
          code: `http.${status}`,
          message: `POST ${server.url} answered ${status}: try later`,
          isRetryable: true,
        },
      });
    },
  );

  it.each([400, 401, 403, 404, 409, 410, 413, 422])("of %i is parked", async (status) => {
    const server = await startTestHttpServer((_, response) => response.writeHead(status).end());
    expect(await emit({ url: server.url })).toEqual({
      status: "failed",
      error: {
        code: `http.${status}`,
        message: `POST ${server.url} answered ${status}`,
        isRetryable: false,
      },
    });
  });

  it.each([301, 302, 303, 307, 308])(
    "of %i is parked, the redirect not followed",
    async (status) => {
      const server = await startTestHttpServer((_, response) =>
        response.writeHead(status, { location: "/elsewhere?secret=1" }).end(),
      );
      const result = await emit({ url: server.url });
      expect(result).toMatchObject({ status: "failed", error: { code: "http.redirect" } });
      expect(messageOf(result)).toContain("Set url to the final address");
      expect(server.requests).toHaveLength(1);
    },
  );

  it("waits as long as the receiver asks", async () => {
    const server = await startTestHttpServer((_, response) =>
      response.writeHead(503, { "retry-after": "7" }).end(),
    );
    expect(await emit({ url: server.url })).toMatchObject({ retryAfterMs: 7_000 });
  });

  it("takes a date relative to the response's own, whatever the clock here says", async () => {
    const server = await startTestHttpServer((_, response) =>
      response
        .writeHead(429, {
          date: "Sun, 06 Nov 1994 08:49:37 GMT",
          "retry-after": "Sun, 06 Nov 1994 08:50:37 GMT",
        })
        .end(),
    );
    expect(await emit({ url: server.url })).toMatchObject({ retryAfterMs: 60_000 });
  });

  it("can be judged differently", async () => {
    const server = await startTestHttpServer((_, response) =>
      response.writeHead(401, { "x-reason": "expired" }).end("token expired"),
    );
    const deferred = { status: "deferred", retryAfterMs: 1_000 } as const;
    const judged: unknown[] = [];
    expect(
      await emit({
        url: server.url,
        mapResponse: (response, result) => {
          judged.push(
            response.status,
            response.headers.get("x-reason"),
            response.body,
            result.status,
          );
          return deferred;
        },
      }),
    ).toEqual(deferred);
    expect(judged).toEqual([401, "expired", "token expired", "failed"]);
    expect(await emit({ url: server.url, mapResponse: () => undefined })).toMatchObject({
      error: { code: "http.401" },
    });
  });

  it("quotes the first part of the body, in one clean line, without what the request kept secret", async () => {
    const server = await startTestHttpServer((request, response) => {
      const echo = `\u0000bad\r\n\u001b[31mkey ${request.headers.authorization} ${"é".repeat(2_000)}`;
      response.writeHead(500).end(echo);
    });
    const result = await emit({
      url: server.url,
      headers: { authorization: "Bearer top-secret-token" },
    });
    const [, text = ""] = messageOf(result).split("answered 500: ");
    expect(text).toMatch(/^bad \[31mkey \[redacted\] é+…$/);
    expect(text).toHaveLength(1_001);
  });
});

describe("without a complete answer", () => {
  it("a refused connection is a retryable failure with the system's code", async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    await server.close();
    expect(await emit({ url: server.url })).toEqual({
      status: "retryable-failure",
      error: {
        code: "http.network_error",
        message: expect.stringContaining(`POST ${server.url} could not be reached`),
        isRetryable: true,
      },
    });
    expect(messageOf(await emit({ url: server.url }))).toContain("(ECONNREFUSED)");
  });

  it("a host that does not exist is one too", async () => {
    const result = await emit({ url: "http://no-such-host.invalid" });
    expect(result).toMatchObject({ error: { code: "http.network_error" } });
    expect(messageOf(result)).toMatch(/\((ENOTFOUND|EAI_AGAIN)\)/);
  });

  it("a connection that is reset before the answer is one too", async () => {
    const server = await startTestHttpServer((request) => request.socket.resetAndDestroy());
    const result = await emit({ url: server.url });
    expect(result).toMatchObject({ error: { code: "http.network_error" } });
    expect(messageOf(result)).toMatch(/\((ECONNRESET|UND_ERR_SOCKET)\)/);
  });

  it("a success that breaks off is one too: the receiver may have died before it was done", async () => {
    const server = await startTestHttpServer((request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("the first part", () => request.socket.destroy());
    });
    expect(await emit({ url: server.url })).toMatchObject({
      status: "retryable-failure",
      error: { code: "http.network_error" },
    });
  });

  it("a refusal that breaks off stands", async () => {
    const server = await startTestHttpServer((request, response) => {
      response.writeHead(422, { "content-length": "1000" });
      response.write("the first part", () => request.socket.destroy());
    });
    expect(await emit({ url: server.url })).toMatchObject({ error: { code: "http.422" } });
  });

  it("what is no HTTP is one too", async () => {
    const server = createServer((socket) => socket.end("SSH-2.0-no\r\n"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    expect(await emit({ url: `http://127.0.0.1:${port}` })).toMatchObject({
      error: { code: "http.network_error" },
    });
  });

  it("silence ends with the timeout", async () => {
    const server = await startTestHttpServer(() => undefined);
    expect(await emit({ url: server.url, timeoutMs: 50 })).toEqual({
      status: "retryable-failure",
      error: {
        code: "http.timeout",
        message: `POST ${server.url} did not answer within 50 ms`,
        isRetryable: true,
      },
    });
  });

  it("a body that never ends, ends with the timeout", async () => {
    const server = await startTestHttpServer((_, response) => {
      response.writeHead(200).write("…");
    });
    expect(await emit({ url: server.url, timeoutMs: 50 })).toMatchObject({
      error: { code: "http.timeout" },
    });
  });

  it("neither do headers that never come, nor a fetch that ignores its signal, hold the slot", async () => {
    const forever = () => new Promise<never>(() => undefined);
    const url = "http://receiver.test";
    for (const hanging of [{ headers: forever }, { fetch: forever }]) {
      expect(await emit({ url, timeoutMs: 20, ...hanging })).toMatchObject({
        error: { code: "http.timeout" },
      });
    }
  });

  it("the context's signal ends it with the signal's reason, and the request with it", async () => {
    const controller = new AbortController();
    let connectionClosed: Promise<unknown> | undefined;
    const server = await startTestHttpServer((request) => {
      connectionClosed = once(request.socket, "close");
      controller.abort(new Error("lease lost"));
    });
    const { signal } = controller;
    const emission = emit({ url: server.url }, testEnvelope(), testContext({ signal }));
    await expect(emission).rejects.toThrow("lease lost");
    await connectionClosed;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("a signal that has already aborted sends nothing", async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    const signal = AbortSignal.abort(new Error("stopping"));
    const emission = emit({ url: server.url }, testEnvelope(), testContext({ signal }));
    await expect(emission).rejects.toThrow("stopping");
    expect(server.requests).toEqual([]);
  });
});

describe("connections and listeners", () => {
  it.each([200, 503, 404, 302])(
    "keeps using its connections after answers of %i",
    async (status) => {
      const server = await startTestHttpServer((_, response) =>
        response.writeHead(status, { location: "/" }).end("x".repeat(20_000)),
      );
      const emitter = createHttpEmitter({ url: server.url });
      for (let count = 0; count < 20; count++) await emitter.emit(testEnvelope(), testContext());
      expect(server.requests).toHaveLength(20);
      // The platform may open a second one when an answer and the next request cross.
      expect(server.connectionCount).toBeLessThanOrEqual(2);
    },
  );

  it("does not read a huge body to its end", async () => {
    let sentBytes = 0;
    const server = await startTestHttpServer((_, response) => {
      response.writeHead(500);
      const pump = () => {
        while (!response.destroyed && sentBytes < 1e9) {
          sentBytes += 65_536;
          if (!response.write(Buffer.alloc(65_536, "x"))) break;
        }
      };
      response.on("drain", pump);
      pump();
    });
    expect(await emit({ url: server.url })).toMatchObject({ error: { code: "http.500" } });
    expect(sentBytes).toBeLessThan(1e8);
  });

  it("leaves no listener on the signal after 10 000 emissions", { timeout: 120_000 }, async () => {
    const server = await startTestHttpServer((_, response) => response.end());
    const emitter = createHttpEmitter({ url: server.url });
    const context = testContext();
    let most = 0;
    const lane = async () => {
      for (let count = 0; count < 500; count++) {
        await emitter.emit(testEnvelope(), context);
        most = Math.max(most, getEventListeners(context.signal, "abort").length);
      }
    };
    await Promise.all(Array.from({ length: 20 }, lane));
    expect(server.requests).toHaveLength(10_000);
    expect(most).toBeLessThan(20);
    expect(getEventListeners(context.signal, "abort")).toEqual([]);
    expect(server.connectionCount).toBeLessThanOrEqual(40);
  });
});

describe("bad input is refused at creation", () => {
  const url = "https://receiver.test/events";

  it.each<[string, Record<string, unknown>, string]>([
    ["no url", {}, "options.url"],
    ["a relative url", { url: "/events" }, "options.url"],
    ["another scheme", { url: "ftp://receiver.test" }, "options.url"],
    ["credentials in the url", { url: "https://joe:pa55word@receiver.test" }, "options.url"],
    ["a method without a body", { url, method: "GET" }, "options.method"],
    ["an unknown format", { url, format: "xml" }, "options.format"],
    ["no time at all", { url, timeoutMs: 0 }, "options.timeoutMs"],
    ["more time than a timer can wait", { url, timeoutMs: 2 ** 31 }, "options.timeoutMs"],
    ["a header that is no text", { url, headers: { a: 1 } }, 'options.headers["a"]'],
    ["a header name with a space", { url, headers: { "a b": "c" } }, 'options.headers["a b"]'],
    [
      "a line break in a header",
      { url, headers: { auth: "pa55word\n" } },
      'options.headers["auth"]',
    ],
    [
      "a header of the emitter's own",
      { url, headers: { "CE-id": "1" } },
      'options.headers["CE-id"]',
    ],
    ["an idempotency header that is no name", { url, idempotencyHeader: "" }, "idempotencyHeader"],
    ["a fetch that is no function", { url, fetch: {} }, "options.fetch"],
    ["a misspelt option", { url, timeout: 5 }, "options.timeout"],
  ])("%s", (_, options, argument) => {
    const create = () => createHttpEmitter(options as unknown as HttpEmitterOptions);
    expect(create).toThrow(InvalidArgumentError);
    expect(create).toThrow(argument);
    expect(create).not.toThrow("pa55word");
  });

  it("and what functions return, at emission, without repeating it", async () => {
    const bad = emit({ url: () => "https://joe:pa55word@receiver.test" });
    await expect(bad).rejects.toThrow(InvalidArgumentError);
    await expect(emit({ url, headers: () => ({ auth: "pa55word\n" }) })).rejects.toThrow(
      /^(?!.*pa55word).*the result of options\.headers/s,
    );
  });
});
