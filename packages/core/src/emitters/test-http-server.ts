import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface TestHttpServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Connections ever accepted. */
  readonly connectionCount: number;
  /** Stops listening and ends all connections; also done when the test is over. */
  close(): Promise<void>;
}

/** A real HTTP server that records each request, whole, before `answer` is called. */
export async function startTestHttpServer(answer: RequestListener): Promise<TestHttpServer> {
  const requests: ReceivedRequest[] = [];
  let connectionCount = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: path = "", headers } = request;
    requests.push({ method, path, headers, body: Buffer.concat(chunks) });
    answer(request, response);
  });
  server.on("connection", () => {
    connectionCount += 1;
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connectionCount() {
      return connectionCount;
    },
    close,
  };
}
