import { startTemporarySqs, type TemporarySqs } from "@outbox/temporary-sqs";
import { afterAll, beforeAll } from "vitest";

/** One emulator thread for a test file; each outbox opens a server of its own in it. */
export function temporaryServer(): () => TemporarySqs {
  let server: TemporarySqs | undefined;
  beforeAll(async () => {
    server = await startTemporarySqs();
  });
  afterAll(async () => {
    await server?.stop();
  });
  return () => {
    if (server === undefined) throw new Error("the emulator is not started yet");
    return server;
  };
}
