import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { isReadyForQuery } from "./ready-for-query.js";

/** Whether a request is meant, by the text of what the client has sent of it so far. */
export type RequestMatcher = (sent: string) => boolean;

export interface DropReplyOptions {
  /** Which requests count. */
  readonly of: RequestMatcher;
  /** The how many-th of them, from now on. @defaultValue 1 */
  readonly nth?: number | undefined;
}

/** A way to PostgreSQL that breaks on command. */
export interface FaultProxy {
  /** The target, by way of the proxy. */
  readonly url: string;
  /** Open connections. */
  readonly connections: number;
  /**
   * Lets a request through and loses its answer: the server carries it out and commits, the client
   * sees its connection reset. Resolves when that has happened.
   */
  dropReply(options: DropReplyOptions): Promise<void>;
  /** Forwards everything this much later, in ms; 0 ends that. */
  delay(ms: number): void;
  /**
   * Keeps every connection open and forwards nothing any more, in either direction; new ones are
   * accepted and get no answer either.
   */
  blackHole(): void;
  /** Resets every connection and refuses new ones. */
  cut(): void;
  /**
   * Lets new connections through. Those that went silent stay silent, as behind a router that has
   * forgotten them.
   */
  heal(): void;
  close(): Promise<void>;
}

interface ReplyDrop {
  readonly matches: RequestMatcher;
  left: number;
  readonly onDropped: () => void;
}

/** One client's connection, and the one to the server behind it. */
class ProxiedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #proxy: { readonly delayMs: number; readonly drops: Set<ReplyDrop> };
  /** Of the request that the server has not begun to answer. */
  #sent = "";
  #isCounted = new Set<ReplyDrop>();
  #dropping: ReplyDrop | null = null;
  #isSilent = false;

  constructor(
    client: Socket,
    server: Socket,
    proxy: { readonly delayMs: number; readonly drops: Set<ReplyDrop> },
  ) {
    this.#client = client;
    this.#server = server;
    this.#proxy = proxy;
    client.on("data", (bytes) => this.#request(bytes));
    server.on("data", (bytes) => this.#answer(bytes));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => {});
      socket.on("close", () => {
        if (!this.#isSilent) other.destroy();
      });
    }
  }

  silence(): void {
    this.#isSilent = true;
  }

  reset(): void {
    this.#isSilent = false;
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  #request(bytes: Buffer): void {
    if (this.#isSilent) return;
    this.#sent += bytes.toString("latin1");
    for (const drop of this.#proxy.drops) {
      if (this.#isCounted.has(drop) || !drop.matches(this.#sent)) continue;
      this.#isCounted.add(drop);
      drop.left -= 1;
      if (drop.left > 0) continue;
      this.#proxy.drops.delete(drop);
      this.#dropping = drop;
    }
    this.#forward(this.#server, bytes);
  }

  #answer(bytes: Buffer): void {
    if (this.#isSilent) return;
    if (this.#dropping !== null) {
      // Only now is it certain that the transaction was committed.
      if (!isReadyForQuery(bytes)) return;
      this.reset();
      this.#dropping.onDropped();
      return;
    }
    this.#sent = "";
    this.#isCounted.clear();
    this.#forward(this.#client, bytes);
  }

  #forward(to: Socket, bytes: Buffer): void {
    const write = () => {
      if (!this.#isSilent && to.writable) to.write(bytes);
    };
    const { delayMs } = this.#proxy;
    if (delayMs > 0) setTimeout(write, delayMs);
    else write();
  }
}

/** Starts a proxy in front of the server that the URL names. */
export async function startFaultProxy({ target }: { target: string }): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const connections = new Set<ProxiedConnection>();
  const sockets = new Set<Socket>();
  const state = { delayMs: 0, drops: new Set<ReplyDrop>() };
  let mode: "pass" | "black-hole" | "cut" = "pass";

  const listener = createServer((client) => {
    sockets.add(client);
    client.on("close", () => sockets.delete(client));
    client.on("error", () => {});
    if (mode === "cut") client.resetAndDestroy();
    if (mode !== "pass") return;
    client.setNoDelay(true);
    const server = connect(Number(port), hostname);
    server.setNoDelay(true);
    sockets.add(server);
    const connection = new ProxiedConnection(client, server, state);
    connections.add(connection);
    client.on("close", () => connections.delete(connection));
    server.on("close", () => sockets.delete(server));
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const through = new URL(target);
  through.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;

  return {
    url: through.href,
    get connections() {
      return connections.size;
    },
    dropReply: ({ of, nth = 1 }) =>
      new Promise((resolve) => {
        state.drops.add({ matches: of, left: nth, onDropped: resolve });
      }),
    delay(ms) {
      state.delayMs = ms;
    },
    blackHole() {
      mode = "black-hole";
      for (const connection of connections) connection.silence();
    },
    cut() {
      mode = "cut";
      for (const connection of connections) connection.reset();
    },
    heal() {
      mode = "pass";
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
