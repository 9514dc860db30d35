import { once } from "node:events";
import { createServer } from "node:net";

/** A TCP port of 127.0.0.1 that nothing listens on at this moment; another process may still take it. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen({ host: "127.0.0.1", port: 0 });
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("No TCP port is free.");
  return address.port;
}
