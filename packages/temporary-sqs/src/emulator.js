// The emulator, in a thread of its own: its clock is not the one of whoever tests with it, and can
// be moved. Plain JavaScript, so that the thread needs no loader.
import { parentPort } from "node:worker_threads";
import { buildApp } from "fauxqs";

let passedMs = 0;
const RealDate = globalThis.Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + passedMs] : args, newTarget),
  get: (target, property, receiver) =>
    property === "now" ? () => RealDate.now() + passedMs : Reflect.get(target, property, receiver),
});

// SQS gives several messages of one group at once, and refuses a handle whose time is over; the
// emulator does neither by itself.
const { SqsQueue } = await import(new URL("./sqs/sqsStore.js", import.meta.resolve("fauxqs")).href);
SqsQueue.prototype.dequeueFifo = function dequeueFifo(maxCount, visibilityTimeout) {
  this.processTimers();
  const seconds = visibilityTimeout ?? Number.parseInt(this.attributes.VisibilityTimeout, 10);
  const received = [];
  for (const [groupId, messages] of this.fifoMessages) {
    if (this.fifoLockedGroups.has(groupId)) continue;
    // What came back one by one stands in the order in which it was sent.
    messages.sort((one, other) => (one.sequenceNumber < other.sequenceNumber ? -1 : 1));
    const taken = messages.splice(0, Math.min(maxCount, 10) - received.length);
    for (const message of taken) {
      message.approximateReceiveCount++;
      message.approximateFirstReceiveTimestamp ??= Date.now();
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
    if (taken.length > 0) this.fifoLockedGroups.set(groupId, taken.length);
    if (messages.length === 0) this.fifoMessages.delete(groupId);
    if (received.length >= Math.min(maxCount, 10)) break;
  }
  return received;
};
for (const method of ["changeVisibility", "deleteMessage"]) {
  const original = SqsQueue.prototype[method];
  SqsQueue.prototype[method] = function afterTimers(...args) {
    this.processTimers();
    return original.apply(this, args);
  };
}

const app = buildApp({ logger: false });
app.addHook("onSend", (_request, reply, _payload, done) => {
  // Node's own header is by the real clock.
  reply.header("date", new Date().toUTCString());
  done();
});

// A receive that is repeated under its attempt id gives the same messages again.
const attempts = new Map();
const attemptOf = (request) =>
  request.headers["x-amz-target"] === "AmazonSQS.ReceiveMessage"
    ? request.body?.ReceiveRequestAttemptId
    : undefined;
app.addHook("preHandler", (request, reply, done) => {
  const earlier = attempts.get(attemptOf(request));
  if (earlier === undefined) return done();
  reply.header("content-type", "application/x-amz-json-1.0").send(earlier);
});
app.addHook("onSend", (request, _reply, payload, done) => {
  const attempt = attemptOf(request);
  if (attempt !== undefined && typeof payload === "string" && payload.includes("ReceiptHandle")) {
    attempts.set(attempt, payload);
    if (attempts.size > 1000) attempts.delete(attempts.keys().next().value);
  }
  done();
});

const endpoint = await app.listen({ port: 0, host: "127.0.0.1" });
parentPort?.on("message", async ({ id, command, ms }) => {
  if (command === "advance") passedMs += ms;
  if (command === "stop") await app.close();
  parentPort?.postMessage({ id, now: Date.now() });
  if (command === "stop") parentPort?.close();
});
parentPort?.postMessage({ id: 0, endpoint });
