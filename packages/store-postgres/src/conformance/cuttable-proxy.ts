import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut, or go silent as a dead network does. */
export interface CuttableProxy {
  /** The given URL, by way of the proxy. */
  readonly url: string;
  /** Ends every connection and refuses new ones until `restore`. */
  cut(): void;
  /** Keeps every connection open and delivers nothing any more, in either direction. */
  freeze(): void;
  /** Lets new connections through again. */
  restore(): void;
  close(): Promise<void>;
}

export async function startCuttableProxy(url: string): Promise<CuttableProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((client) => {
    if (!isOpen) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    cut() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
    freeze() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    restore() {
      isOpen = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
