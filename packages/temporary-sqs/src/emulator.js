// Emulators, in a thread of their own: their clocks are not the one of whoever tests with them, and
// each can be moved. Plain JavaScript, so that the thread needs no loader.
import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort } from "node:worker_threads";
import { buildApp } from "fauxqs";

/** @typedef {{ passedMs: number }} Clock */
/** @typedef {{ clock: Clock, app: { close(): PromiseLike<unknown> } }} Emulator */

/** @type {AsyncLocalStorage<Clock>} */
const clocks = new AsyncLocalStorage();
const RealDate = globalThis.Date;
const now = () => RealDate.now() + (clocks.getStore()?.passedMs ?? 0);
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, property, receiver) =>
    property === "now" ? now : Reflect.get(target, property, receiver),
});

// SQS gives several messages of one group at once, and looks at the time before it changes one;
// the emulator does neither by itself.
const { SqsQueue } = await import(new URL("./sqs/sqsStore.js", import.meta.resolve("fauxqs")).href);
SqsQueue.prototype.dequeueFifo = dequeueFifo;
for (const method of ["changeVisibility", "deleteMessage"]) {
  const original = SqsQueue.prototype[method];
  SqsQueue.prototype[method] = function afterTimers(/** @type {unknown[]} */ ...args) {
    this.processTimers();
    return original.apply(this, args);
  };
}

/**
 * @this {any}
 * @param {number} maxCount
 * @param {number} [visibilityTimeout]
 */
function dequeueFifo(maxCount, visibilityTimeout) {
  this.processTimers();
  const seconds = visibilityTimeout ?? Number.parseInt(this.attributes.VisibilityTimeout, 10);
  const most = Math.min(maxCount, 10);
  /** @type {object[]} */
  const received = [];
  for (const [groupId, messages] of this.fifoMessages) {
    if (this.fifoLockedGroups.has(groupId)) continue;
    // What came back one by one goes in the order in which it was sent.
    messages.sort((/** @type {any} */ one, /** @type {any} */ other) =>
      one.sequenceNumber < other.sequenceNumber ? -1 : 1,
    );
    /** @type {any[]} */
    const taken = messages.splice(0, most - received.length);
    for (const message of taken) {
      message.approximateReceiveCount++;
      const receiptHandle = crypto.randomUUID();
      const visibilityDeadline = Date.now() + seconds * 1000;
      this.inflightMessages.set(receiptHandle, { message, receiptHandle, visibilityDeadline });
      received.push({
        MessageId: message.messageId,
        ReceiptHandle: receiptHandle,
        MD5OfBody: message.md5OfBody,
        Body: message.body,
        MD5OfMessageAttributes: message.md5OfMessageAttributes || undefined,
        MessageAttributes: message.messageAttributes,
      });
    }
    this.fifoLockedGroups.set(groupId, taken.length);
    if (messages.length === 0) this.fifoMessages.delete(groupId);
    if (received.length === most) break;
  }
  return received;
}

/** @param {Clock} clock */
function createApp(clock) {
  const app = buildApp({ logger: false });
  app.addHook("onRequest", (_request, _reply, done) => clocks.run(clock, done));
  app.addHook("onSend", (_request, reply, _payload, done) => {
    // Node's own header is by the real clock.
    reply.header("date", new RealDate(RealDate.now() + clock.passedMs).toUTCString());
    done();
  });
  repeatReceives(app);
  return app;
}

/**
 * A receive that is repeated under its attempt id gives the same messages again.
 * @param {any} app
 */
function repeatReceives(app) {
  /** @type {Map<string, string>} */
  const replies = new Map();
  /** @param {any} request @returns {string | undefined} */
  const attemptOf = (request) =>
    request.headers["x-amz-target"] === "AmazonSQS.ReceiveMessage"
      ? request.body?.ReceiveRequestAttemptId
      : undefined;
  app.addHook(
    "preHandler",
    (/** @type {any} */ request, /** @type {any} */ reply, /** @type {any} */ done) => {
      const earlier = replies.get(attemptOf(request) ?? "");
      if (earlier === undefined) done();
      else reply.header("content-type", "application/x-amz-json-1.0").send(earlier);
    },
  );
  app.addHook(
    "onSend",
    (
      /** @type {any} */ request,
      /** @type {any} */ _reply,
      /** @type {any} */ payload,
      /** @type {any} */ done,
    ) => {
      const attempt = attemptOf(request);
      if (
        attempt !== undefined &&
        typeof payload === "string" &&
        payload.includes("ReceiptHandle")
      ) {
        replies.set(attempt, payload);
        const [oldest] = replies.keys();
        if (replies.size > 1000 && oldest !== undefined) replies.delete(oldest);
      }
      done();
    },
  );
}

/** @type {Map<string, Emulator>} */
const emulators = new Map();

/**
 * @param {string} endpoint
 * @returns {Emulator}
 */
function emulatorAt(endpoint) {
  const emulator = emulators.get(endpoint);
  if (emulator === undefined) throw new Error(`there is no emulator at ${endpoint}`);
  return emulator;
}

const commands = {
  open: async () => {
    const clock = { passedMs: 0 };
    const app = createApp(clock);
    const endpoint = await app.listen({ port: 0, host: "127.0.0.1" });
    emulators.set(endpoint, { clock, app });
    return endpoint;
  },
  /** @param {{ endpoint: string, ms: number }} question */
  advance: async ({ endpoint, ms }) => {
    emulatorAt(endpoint).clock.passedMs += ms;
  },
  /** @param {{ endpoint: string }} question */
  now: async ({ endpoint }) => RealDate.now() + emulatorAt(endpoint).clock.passedMs,
  /** @param {{ endpoint: string }} question */
  close: async ({ endpoint }) => {
    await emulatorAt(endpoint).app.close();
    emulators.delete(endpoint);
  },
};

parentPort?.on(
  "message",
  async (/** @type {{ id: number, command: keyof typeof commands } & any} */ question) => {
    const answer =
      await commands[/** @type {keyof typeof commands} */ (question.command)](question);
    parentPort?.postMessage({ id: question.id, answer });
  },
);
