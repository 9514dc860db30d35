import {
  type BadCall,
  beforeEachBadCall,
  describeBadInput,
  each,
  wrongDates,
  wrongDurations,
  wrongIds,
  wrongObjects,
} from "./test-bad-input.js";

beforeEachBadCall();

const long = "x".repeat(256);

const enqueueOf = (argument: string, key: string, values: readonly unknown[]): BadCall[] =>
  each(values, "enqueue", `input.${argument}`, (value) => [{ type: "a", [key]: value }]);

const entriesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, "x"]));

describeBadInput("enqueue", [
  ...each([undefined, null, 5, "x", () => 1], "enqueue", "input", (value) => [value]),
  ...each(wrongIds, "enqueue", "input.type", (type) => [{ type }]),
  ...enqueueOf("type", "type", ["order.*"]),
  ...enqueueOf("envelopeId", "envelopeId", wrongIds.slice(1)),
  ...enqueueOf("entryId", "entryId", wrongIds.slice(1)),
  ...enqueueOf("destination", "destination", wrongIds.slice(1)),
  ...["source", "subject", "dataContentType", "dataSchema"].flatMap((key) =>
    enqueueOf(key, key, [null, 5, "", "x".repeat(1_001), "a\u0000", "\udc00"]),
  ),
  ...enqueueOf("time", "time", wrongDates),
  ...enqueueOf("availableAt", "availableAt", wrongDates),
  ...enqueueOf("availableInMs", "availableInMs", wrongDurations),
  ...enqueueOf("traceparent", "traceparent", [null, 5, "", "00-x", `00-${"a".repeat(32)}`]),
  ...enqueueOf("metadata", "metadata", [...wrongObjects, entriesOf(65)]),
  ...enqueueOf("metadata.k", "metadata", [{ k: 5 }, { k: null }, { k: undefined }]),
  ...each(["", long, "\u0000", "\ud800"], "enqueue", "a key of input.metadata", (key) => [
    { type: "a", metadata: { [key as string]: "x" } },
  ]),
  ...enqueueOf("payload", "payload", [1n, Number.NaN, new Map(), () => 1, Symbol("s")]),
  ...enqueueOf("payload.a[0]", "payload", [{ a: [1n] }, { a: [new Set()] }]),
  ...enqueueOf("misspelt", "misspelt", [1]),
  [
    "enqueue",
    "input.availableAt",
    () => [{ type: "a", availableAt: new Date(), availableInMs: 1 }],
  ],
  ["enqueue", "inputs[1]", () => [[{ type: "a" }, null]]],
  ["enqueue", "inputs[0]", () => [Object.assign(new Array(2), { 1: { type: "a" } })]],
  ["enqueue", "inputs[1].type", () => [[{ type: "a" }, { type: "" }]]],
  ["enqueue", "inputs[1].payload.x", () => [[{ type: "a" }, { type: "a", payload: { x: 1n } }]]],
  ...each(wrongObjects, "enqueue", "options", (value) => [{ type: "a" }, value]),
  ...each([false, "yes", null], "enqueue", "options.autonomous", (autonomous) => [
    { type: "a" },
    { autonomous },
  ]),
  ["enqueue", "options.tx", () => [{ type: "a" }, { tx: {} }]],
  ["enqueue", "options.misspelt", () => [{ type: "a" }, { misspelt: 1 }]],
]);
