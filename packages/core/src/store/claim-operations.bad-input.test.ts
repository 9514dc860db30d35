import {
  type BadCall,
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

const long = "x".repeat(256);

const claimWith = (key: string, values: readonly unknown[]): BadCall[] =>
  ["claim", "claimPending", "claimRetryReady"].flatMap((call) =>
    each(values, call, `request.${key}`, (value) => [{ workerId: "w", [key]: value }]),
  );

describeBadInput("claim", [
  ...["claim", "claimPending", "claimRetryReady"].flatMap((call) =>
    each([undefined, ...wrongObjects], call, "request", (value) => [value]),
  ),
  ...claimWith("workerId", wrongIds),
  ...claimWith("leaseDurationMs", [0, 0.5, 31 * 86_400_000, ...wrongDurations]),
  ...claimWith("maxCount", [null, "5", 0, -1, 1.5, Number.NaN, Infinity, 1e9, {}]),
  ...claimWith("maxBytes", [null, "5", 0, -1, 1.5, Number.NaN, Infinity]),
  ...claimWith("types", [null, "a", [], {}]),
  ...claimWith("types[0]", [[5], [""], ["a*"], ["*.a"], ["a.*.b"], ["**"], [long]]),
  ...claimWith("suspects", [null, "", "some", 1]),
  ...claimWith("claimId", wrongIds.slice(1)),
  ...claimWith("after", [null, 5, "", "x".repeat(1_001), "\u0000"]),
  ...claimWith("now", [new Date()]),
]);

describeBadInput("transitions of a claim", [
  ...["markClaimDelivered", "releaseClaim"].flatMap((call) =>
    each([undefined, ...wrongObjects], call, "claim", (value) => [value]),
  ),
  ...["markClaimFailed", "markClaimDeadLettered"].flatMap((call) => [
    ...each([undefined, ...wrongObjects], call, "claim", (value) => [value, error]),
    ...each([undefined, ...wrongObjects], call, "error", (value) => [there.claim, value]),
    ...each([undefined, null, 5], call, "error.code", (code) => [there.claim, { ...error, code }]),
    ...each([undefined, null, {}], call, "error.message", (message) => [
      there.claim,
      { ...error, message },
    ]),
    ...each([undefined, "no", 0], call, "error.isRetryable", (isRetryable) => [
      there.claim,
      { ...error, isRetryable },
    ]),
  ]),
  ...each([undefined, null, 5, ""], "markClaimDelivered", "claim.claimToken", (claimToken) => [
    { ...there.claim, claimToken },
  ]),
  ...each(
    [
      { deadline: undefined },
      { deadline: { monotonicMs: 1 } },
      { deadline: { monotonicMs: Number.NaN, wallMs: 1 } },
      { claimExpiresAt: "2026-01-01" },
    ],
    "markClaimDelivered",
    "claim",
    (change) => [{ ...there.claim, ...(change as object) }],
  ),
  ...each(wrongObjects, "markClaimDelivered", "claim.entry", (entry) => [
    { ...there.claim, entry },
  ]),
  ["markClaimDelivered", "claim.entry", () => [JSON.parse(JSON.stringify(there.claim))]],
  ["markClaimDelivered", "claim.entry", () => [{ ...there.claim, entry: { entryId: "x" } }]],
  ...each(wrongObjects, "markClaimDelivered", "result", (value) => [there.claim, value]),
  ...each([null, 5], "markClaimDelivered", "result.providerMessageId", (providerMessageId) => [
    there.claim,
    { providerMessageId },
  ]),
  ["markClaimDelivered", "result.status", () => [there.claim, { status: "failed" }]],
  ["markClaimDelivered", "result.misspelt", () => [there.claim, { misspelt: 1 }]],
  ...each(wrongObjects, "markClaimFailed", "retry", (value) => [there.claim, error, value]),
  ...each(wrongDurations, "markClaimFailed", "retry.retryInMs", (retryInMs) => [
    there.claim,
    error,
    { retryInMs },
  ]),
  ...each(wrongDates, "markClaimFailed", "retry.nextRetryAt", (nextRetryAt) => [
    there.claim,
    error,
    { nextRetryAt },
  ]),
  [
    "markClaimFailed",
    "retry.nextRetryAt",
    () => [there.claim, error, { retryInMs: 1, nextRetryAt: new Date() }],
  ],
  ["markClaimFailed", "retry.delayMs", () => [there.claim, error, { delayMs: 1 }]],
  ...each([null, 5, {}], "markClaimDeadLettered", "reason", (reason) => [
    there.claim,
    error,
    reason,
  ]),
  ...each(wrongObjects, "releaseClaim", "options", (value) => [there.claim, value]),
  ...each(wrongDurations, "releaseClaim", "options.delayMs", (delayMs) => [
    there.claim,
    { delayMs },
  ]),
  ["releaseClaim", "options.reason", () => [there.claim, { reason: "stopping" }]],
]);

describeBadInput("completeClaims", [
  ...each([undefined, null, 5, {}, "x"], "completeClaims", "completions", (value) => [value]),
  ...each(wrongObjects, "completeClaims", "completions[0]", (value) => [[value]]),
  ...each(
    [undefined, "claimed", "pending", 5, "toString"],
    "completeClaims",
    "completions[0].kind",
    (kind) => [[{ claim: there.claim, kind }]],
  ),
  ["completeClaims", "completions[0].claim", () => [[{ kind: "delivered" }]]],
  [
    "completeClaims",
    "completions[1].error",
    () => [
      [
        { claim: there.claim, kind: "delivered" },
        { claim: there.claim, kind: "failed" },
      ],
    ],
  ],
  [
    "completeClaims",
    "completions[0].retryInMs",
    () => [[{ claim: there.claim, kind: "deferred" }]],
  ],
  [
    "completeClaims",
    "completions[0].retryInMs",
    () => [[{ claim: there.claim, kind: "failed", error, retryInMs: 5 }]],
  ],
  [
    "completeClaims",
    "completions[0].retry.retryInMs",
    () => [[{ claim: there.claim, kind: "failed", error, retry: { retryInMs: -1 } }]],
  ],
  [
    "completeClaims",
    "completions[0].error",
    () => [[{ claim: there.claim, kind: "deferred", retryInMs: 5, error: "x" }]],
  ],
  [
    "completeClaims",
    "completions[0].reason",
    () => [[{ claim: there.claim, kind: "dead-lettered", error, reason: null }]],
  ],
  [
    "completeClaims",
    "completions[0].countsFailure",
    () => [[{ claim: there.claim, kind: "dead-lettered", error, countsFailure: "no" }]],
  ],
  [
    "completeClaims",
    "completions[0].delayMs",
    () => [[{ claim: there.claim, kind: "release", delayMs: -1 }]],
  ],
  [
    "completeClaims",
    "completions[0].result",
    () => [[{ claim: there.claim, kind: "release", result: {} }]],
  ],
]);

describeBadInput("extendClaims", [
  ...each([undefined, null, 5, {}], "extendClaims", "claims", (value) => [
    value,
    { leaseDurationMs: 5 },
  ]),
  ...each(wrongObjects, "extendClaims", "claims[0]", (value) => [[value], { leaseDurationMs: 5 }]),
  ...each([undefined, ...wrongObjects], "extendClaims", "options", (value) => [
    [there.claim],
    value,
  ]),
  ...each(
    [undefined, 0, ...wrongDurations],
    "extendClaims",
    "options.leaseDurationMs",
    (leaseDurationMs) => [[there.claim], { leaseDurationMs }],
  ),
  ["extendClaims", "options.byMs", () => [[there.claim], { leaseDurationMs: 5, byMs: 5 }]],
]);
