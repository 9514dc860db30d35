import { describe, expect, test } from "vitest";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

describe("queues that would lose entries", () => {
  test.each([
    ["a retention of four days", { MessageRetentionPeriod: "345600" }, "retention"],
    [
      "a native redrive policy",
      { RedrivePolicy: '{"maxReceiveCount":3,"deadLetterTargetArn":"arn:x"}' },
      "redrive-policy",
    ],
    ["a visibility default under the lease", { VisibilityTimeout: "30" }, "visibility-timeout"],
  ] as const)(
    "%s is refused at the first claim, unless accepted by name",
    async (_what, attributes, name) => {
      await using outbox = await openOutbox(server(), { attributes, accept: [] });
      await expect(outbox.claim()).rejects.toMatchObject({
        code: "outbox.sqs_queue_refused",
        message: expect.stringContaining(`accept: ["${name}"]`),
      });
      expect((await outbox.store.checkQueues()).length).toBe(name === "visibility-timeout" ? 0 : 1);
      const { store } = outbox.openStore({ accept: [name] });
      await expect(store.claim({ workerId: "worker" })).resolves.toMatchObject({ claims: [] });
    },
  );

  test("a dead-letter queue of less retention than declared is refused", async () => {
    const deadLetterAttributes = { MessageRetentionPeriod: "345600" };
    await using outbox = await openOutbox(server(), { deadLetterAttributes });
    await expect(outbox.claim()).rejects.toThrow("deadLetterRetentionMs");
    const { store } = outbox.openStore({ deadLetterRetentionMs: 345_600_000 });
    expect(store.capabilities.maxParkedAgeMs).toBe(345_600_000);
    await expect(store.claim({ workerId: "worker" })).resolves.toMatchObject({ claims: [] });
  });
});
