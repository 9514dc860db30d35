import {
  beforeEachBadCall,
  describeBadInput,
  each,
  error,
  there,
  wrongDates,
  wrongDurations,
  wrongIds,
  wrongObjects,
} from "./test-bad-input.js";

beforeEachBadCall();

describeBadInput("save", [
  ...each([undefined, ...wrongObjects], "saveClaim", "claim", (value) => [
    value,
    there.claim.entry,
  ]),
  ...each([undefined, ...wrongObjects], "saveClaim", "entry", (value) => [there.claim, value]),
  ...each([undefined, ...wrongObjects], "save", "read", (value) => [value, there.claim.entry]),
  ...each([undefined, ...wrongObjects], "save", "next", (value) => [there.claim.entry, value]),
  ["save", "next", () => [there.parked, { ...there.parked, status: "pending" }]],
  ...["saveClaim", "save"].flatMap((call) => {
    const name = call === "save" ? "next" : "entry";
    const over = (change: object) => [
      call === "save" ? there.claim.entry : there.claim,
      { ...there.claim.entry, ...change },
    ];
    return [
      ...each(
        ["delivered", "failed", "dead-lettered", "claimed"],
        call,
        `${name}.status`,
        (status) => over({ status }),
      ),
      ...each(["other"], call, `${name}.entryId`, (entryId) => over({ entryId })),
      ...each(wrongObjects, call, `${name}.metadata`, (metadata) => over({ metadata })),
      ...each([{ k: 1 }], call, `${name}.metadata.k`, (metadata) => over({ metadata })),
      ...each([undefined, ...wrongDates.slice(1)], call, `${name}.nextRetryAt`, (nextRetryAt) =>
        over({ nextRetryAt }),
      ),
      ...each([undefined, ...wrongDates.slice(1)], call, `${name}.availableAt`, (availableAt) =>
        over({ availableAt }),
      ),
      ...each([null, 5], call, `${name}.failures[0]`, (failure) => over({ failures: [failure] })),
      ...each([undefined, "now"], call, `${name}.failures[0].at`, (at) =>
        over({ failures: [{ at, code: "x", message: "y" }] }),
      ),
      ...each([undefined, 5], call, `${name}.failures[0].code`, (code) =>
        over({ failures: [{ at: new Date(), code, message: "y" }] }),
      ),
      ...each([undefined, 5], call, `${name}.failures[0].message`, (message) =>
        over({ failures: [{ at: new Date(), code: "x", message }] }),
      ),
    ];
  }),
]);

describeBadInput("finding and marking", [
  ...["findByOutboxEntryId", "markDelivered", "show"].flatMap((call) =>
    each(wrongIds, call, "entryId", (value) => [value]),
  ),
  ...["markFailed", "markDeadLettered"].flatMap((call) => [
    ...each(wrongIds, call, "entryId", (value) => [value, error]),
    ...each([undefined, ...wrongObjects], call, "error", (value) => ["id", value]),
  ]),
  ...each(wrongObjects, "markDelivered", "result", (value) => ["id", value]),
  ...each(wrongDurations, "markFailed", "retry.retryInMs", (retryInMs) => [
    "id",
    error,
    { retryInMs },
  ]),
  ...each([null, 5], "markDeadLettered", "reason", (reason) => ["id", error, reason]),
  ...["findPending", "findRetryReady"].flatMap((call) => [
    ...each(wrongObjects, call, "options", (value) => [value]),
    ...each([null, "5", 0, -1, 1.5, 1e9], call, "options.maxCount", (maxCount) => [{ maxCount }]),
    ...each([1], call, "options.limit", (limit) => [{ limit }]),
  ]),
]);
