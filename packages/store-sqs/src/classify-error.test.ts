import { expect, test } from "vitest";
import { classifyBatchError, classifyError, classifySqsError } from "./classify-error.js";
import { sqsError } from "./testing/faults.js";

test.each([
  ["RequestThrottled", 400, "transient"],
  ["ThrottlingException", 400, "transient"],
  ["KmsThrottled", 400, "transient"],
  ["OverLimit", 403, "transient"],
  ["ServiceUnavailable", 503, "transient"],
  ["ExpiredToken", 403, "transient"],
  ["CredentialsProviderError", undefined, "transient"],
  ["UnknownError", 429, "transient"],
  ["UnknownError", 503, "transient"],
  ["UnknownError", 500, "unknown-outcome"],
  ["InternalFailure", 500, "unknown-outcome"],
  ["TimeoutError", undefined, "unknown-outcome"],
  ["AbortError", undefined, "unknown-outcome"],
  ["BatchRequestTooLong", 400, "invalid-data"],
  ["InvalidMessageContents", 400, "invalid-data"],
  ["InvalidParameterValue", 400, "invalid-data"],
  ["ReceiptHandleIsInvalid", 404, "stale-handle"],
  ["MessageNotInflight", 400, "stale-handle"],
  ["AWS.SimpleQueueService.MessageNotInflight", 400, "stale-handle"],
  ["QueueDoesNotExist", 400, "permanent"],
  ["AccessDenied", 403, "permanent"],
  ["KmsAccessDenied", 400, "permanent"],
  ["InvalidClientTokenId", 403, "permanent"],
] as const)("%s with status %s is %s", (name, status, kind) => {
  expect(classifySqsError(sqsError(name, name, status))).toBe(kind);
});

test.each([
  ["ECONNREFUSED", "transient"],
  ["ENOTFOUND", "transient"],
  ["ECONNRESET", "unknown-outcome"],
  ["EPIPE", "unknown-outcome"],
  ["ETIMEDOUT", "unknown-outcome"],
] as const)("the network's %s is %s", (code, kind) => {
  expect(classifySqsError(Object.assign(new Error(code), { code }))).toBe(kind);
});

test("an invalid value is a stale handle only where it is the receipt handle", () => {
  const expired =
    "Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.";
  const beyond =
    "Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].";
  expect(classifySqsError(sqsError("InvalidParameterValue", expired))).toBe("stale-handle");
  expect(classifySqsError(sqsError("InvalidParameterValue", beyond))).toBe("invalid-data");
});

test("a failed member of a batch goes by its code, an unknown one by whose fault it was", () => {
  expect(classifyBatchError({ Code: "ThrottlingException", SenderFault: true })).toBe("transient");
  expect(classifyBatchError({ Code: "InternalError", SenderFault: false })).toBe("unknown-outcome");
  expect(classifyBatchError({ Code: "Strange", SenderFault: false })).toBe("unknown-outcome");
  expect(classifyBatchError({ Code: "Strange", SenderFault: true })).toBe("permanent");
});

test("anything thrown has a kind; core is told of no handles", () => {
  expect(classifySqsError(undefined)).toBe("permanent");
  expect(classifySqsError("text")).toBe("permanent");
  expect(classifyError(sqsError("ReceiptHandleIsInvalid"))).toBe("permanent");
});
