import { expect, test } from "vitest";
import { iamPolicies } from "./iam-policies.js";
import type { QueueAttributes } from "./queue-attributes.js";
import { queueDefinitions } from "./queue-definitions.js";
import { deadLetterQueueFindings, pendingQueueFindings } from "./queue-findings.js";

const day = 24 * 60 * 60 * 1_000;

const good: QueueAttributes = {
  arn: "arn:aws:sqs:us-east-1:1:outbox",
  isFifo: false,
  maxMessageBytes: 1_048_576,
  retentionMs: 14 * day,
  visibilityTimeoutMs: 60_000,
  delayMs: 0,
  redrivePolicy: null,
  counts: { visible: 0, inFlight: 0, delayed: 0 },
};

const expected = {
  isFifo: false,
  accept: [],
  deadLetterRetentionMs: 14 * day,
  leaseDurationMs: 60_000,
} as const;

test("queues as defined have nothing wrong with them", () => {
  expect(pendingQueueFindings(good, expected)).toEqual([]);
  expect(deadLetterQueueFindings(good, good, expected)).toEqual([]);
});

test.each([
  ["a retention under 14 days", { retentionMs: 13 * day }, "retention", "13 days"],
  ["a native RedrivePolicy", { redrivePolicy: "{}" }, "redrive-policy", "RedrivePolicy"],
  [
    "a visibility default under the lease",
    { visibilityTimeoutMs: 30_000 },
    "visibility-timeout",
    "VisibilityTimeout (30 s)",
  ],
] as const)(
  "%s is an error with a remedy, unless accepted by name",
  (_what, changes, name, words) => {
    const queue = { ...good, ...changes };
    const [finding, ...others] = pendingQueueFindings(queue, expected);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "error", message: expect.stringContaining(words) });
    expect(finding?.remedy).toContain(`accept: ["${name}"]`);
    const [accepted] = pendingQueueFindings(queue, { ...expected, accept: [name] });
    expect(accepted?.severity).toBe("info");
  },
);

test("a dead-letter queue must keep entries as long as declared, and take the largest", () => {
  const queue = { ...good, retentionMs: 4 * day, maxMessageBytes: 262_144 };
  const findings = deadLetterQueueFindings(queue, good, expected);
  expect(findings.map(({ severity }) => severity)).toEqual(["error", "error"]);
  expect(findings[0]?.remedy).toContain("deadLetterRetentionMs");
  const declared = { ...expected, deadLetterRetentionMs: 4 * day };
  expect(deadLetterQueueFindings({ ...good, retentionMs: 4 * day }, good, declared)).toEqual([]);
});

test("a queue of the other kind is refused, and a FIFO queue that delays is warned of", () => {
  expect(pendingQueueFindings({ ...good, isFifo: true }, expected)[0]?.severity).toBe("error");
  const delaying = { ...good, isFifo: true, delayMs: 5_000 };
  const [finding] = pendingQueueFindings(delaying, { ...expected, isFifo: true });
  expect(finding).toMatchObject({ severity: "warning", message: expect.stringContaining("5 s") });
});

test("definitions are what the checks ask for", () => {
  const { pending, deadLetter } = queueDefinitions({
    name: "shop-outbox",
    fifo: true,
    leaseDurationMs: 90_500,
  });
  expect(pending.QueueName).toBe("shop-outbox.fifo");
  expect(deadLetter.QueueName).toBe("shop-outbox-dead-letter.fifo");
  expect(pending.Attributes).toMatchObject({
    FifoQueue: "true",
    MessageRetentionPeriod: "1209600",
    VisibilityTimeout: "91",
  });
});

test.each([
  [{ name: "with space" }, "options.name"],
  [{ name: "x".repeat(70) }, "options.name"],
  [{ name: "x", leaseDurationMs: 43_200_001 }, "options.leaseDurationMs"],
  [{ name: "x", maxMessageBytes: 100 }, "options.maxMessageBytes"],
])("a definition that AWS would refuse is refused: %j", (options, argument) => {
  expect(() => queueDefinitions(options)).toThrow(expect.objectContaining({ argument }));
});

test("each role may do what it needs, and nothing else", () => {
  const policies = iamPolicies({ pendingArn: "P", deadLetterArn: "D", kmsKeyArn: "K" });
  const allowed = Object.fromEntries(
    Object.entries(policies).map(([role, { Statement }]) => [
      role,
      Statement.flatMap(({ Action, Resource }) =>
        Action.map((action) => `${Resource} ${action.replace(/^(sqs|kms):/, "")}`),
      ).sort(),
    ]),
  );
  const key = ["K Decrypt", "K GenerateDataKey"];
  expect(allowed).toEqual({
    producer: [...key, "P GetQueueAttributes", "P SendMessage"].sort(),
    worker: [
      ...key,
      "P ReceiveMessage",
      "P DeleteMessage",
      "P ChangeMessageVisibility",
      "P SendMessage",
      "P GetQueueAttributes",
      "D SendMessage",
      "D GetQueueAttributes",
    ].sort(),
    operator: [
      ...key,
      "D ReceiveMessage",
      "D DeleteMessage",
      "D ChangeMessageVisibility",
      "D GetQueueAttributes",
      "P SendMessage",
      "P GetQueueAttributes",
    ].sort(),
  });
});
