import {
  beforeEachBadCall,
  describeBadInput,
  each,
  wrongDates,
  wrongDurations,
  wrongIds,
  wrongObjects,
} from "./test-bad-input.js";

beforeEachBadCall();

describeBadInput("inspecting and administering", [
  ...["list", "redrive"].flatMap((call) => [
    ...each([undefined, ...wrongObjects, {}], call, "filter", (value) => [value]),
    ...each([false, 1, null], call, "filter.all", (all) => [{ all }]),
    ...each([true], call, "filter.all", (all) => [{ all, entryIds: ["x"] }]),
    ...["entryIds", "envelopeIds", "destinations", "types", "statuses", "orderingKeys"].flatMap(
      (key) => [
        ...each([null, "x", [], {}], call, `filter.${key}`, (value) => [{ [key]: value }]),
        ...each([5, "", null], call, `filter.${key}[0]`, (value) => [{ [key]: [value] }]),
      ],
    ),
    ...each(["claimed"], call, "filter.statuses[0]", (value) => [{ statuses: [value] }]),
    ...["createdFrom", "createdBefore", "updatedFrom", "updatedBefore"].flatMap((key) =>
      each(wrongDates, call, `filter.${key}`, (value) => [{ [key]: value }]),
    ),
    ...each([["x"]], call, "filter.type", (type) => [{ type }]),
    ...each(wrongObjects, call, "options", (value) => [{ all: true }, value]),
  ]),
  ...each([null, 0, 1_001, 1.5], "list", "options.maxCount", (maxCount) => [
    { all: true },
    { maxCount },
  ]),
  ...each([null, "", 5], "list", "options.after", (after) => [{ all: true }, { after }]),
  ...each(wrongObjects, "stats", "options", (value) => [value]),
  ...each([null, "yes"], "stats", "options.exact", (exact) => [{ exact }]),
  ...each(wrongIds.slice(1), "redrive", "options.by", (by) => [{ all: true }, { by }]),
  ...each([null, 5], "redrive", "options.reason", (reason) => [{ all: true }, { reason }]),
  ...each([null, "yes"], "redrive", "options.dryRun", (dryRun) => [{ all: true }, { dryRun }]),
  ...each([undefined, ...wrongObjects], "purge", "options", (value) => [value]),
  ...each([undefined, "pending", null], "purge", "options.status[0]", (status) => [
    { status, olderThanMs: 1 },
  ]),
  ...each([["delivered", "failed"]], "purge", "options.status[1]", (status) => [
    { status, olderThanMs: 1 },
  ]),
  ...each([[]], "purge", "options.status", (status) => [{ status, olderThanMs: 1 }]),
  ...each([undefined, ...wrongDurations], "purge", "options.olderThanMs", (olderThanMs) => [
    { status: "delivered", olderThanMs },
  ]),
  ...each([null, 0, 10_001], "purge", "options.batchSize", (batchSize) => [
    { status: "delivered", olderThanMs: 1, batchSize },
  ]),
  ...each([null, "yes"], "purge", "options.dryRun", (dryRun) => [
    { status: "delivered", olderThanMs: 1, dryRun },
  ]),
  ...each([null, {}], "purge", "options.signal", (signal) => [
    { status: "delivered", olderThanMs: 1, signal },
  ]),
  ...each([undefined, ...wrongObjects, () => 1], "subscribe", "listener", (value) => [value]),
  ...each([undefined, 5], "subscribe", "listener.onWakeUp", (onWakeUp) => [{ onWakeUp }]),
]);
