import { once } from "node:events";
import { createServer } from "node:net";
import { ServerStartError } from "./server-start-error.js";

const attempts = 5;

/** Calls `start` with a free port, and again with another one if somebody else was faster. */
export async function startOnFreePort<Result>(
  start: (port: number) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      const collision = error instanceof ServerStartError && error.portTaken;
      if (!collision || attempt === attempts) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen({ host: "127.0.0.1", port: 0 });
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("No TCP port is free.");
  return address.port;
}
