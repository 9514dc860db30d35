import type { StoreErrorKind } from "@outbox/core";
import { describe, expect, it } from "vitest";
import { classifyError, sqlState } from "./classify-error.js";
import { type ErrorPhase, inPhase } from "./connections/error-phase.js";
import { QueryTimeoutError } from "./connections/query-timeout-error.js";

async function thrownIn(phase: ErrorPhase, error: unknown): Promise<unknown> {
  return inPhase(phase, async () => {
    throw error;
  }).catch((thrown: unknown) => thrown);
}

const withCode = (code: string) => Object.assign(new Error("Сообщение на другом языке"), { code });

/** Code, kind in a statement, and while connecting if that is another. */
type Expectation = readonly [
  code: string,
  inStatement: StoreErrorKind,
  whileConnecting?: StoreErrorKind | undefined,
];

const table: readonly Expectation[] = [
  ["40001", "transient"], // serialization_failure
  ["40P01", "transient"], // deadlock_detected
  ["40003", "unknown-outcome", "transient"], // statement_completion_unknown
  ["53100", "transient"], // disk_full
  ["53200", "transient"], // out_of_memory
  ["53300", "transient"], // too_many_connections
  ["55P03", "transient"], // lock_not_available
  ["55006", "transient"], // object_in_use
  ["57014", "transient"], // query_canceled
  ["57P01", "transient"], // admin_shutdown
  ["57P02", "unknown-outcome", "transient"], // crash_shutdown
  ["57P03", "transient"], // cannot_connect_now
  ["25006", "transient"], // read_only_sql_transaction
  ["25P03", "transient"], // idle_in_transaction_session_timeout
  ["25P04", "transient"], // transaction_timeout
  ["58030", "transient"], // io_error
  ["08000", "unknown-outcome", "transient"], // connection_exception
  ["08003", "unknown-outcome", "transient"], // connection_does_not_exist
  ["08006", "unknown-outcome", "transient"], // connection_failure
  ["08P01", "unknown-outcome", "transient"], // protocol_violation: PgBouncer's "server conn crashed"
  ["22P02", "invalid-data"], // invalid_text_representation
  ["22P05", "invalid-data"], // untranslatable_character
  ["22021", "invalid-data"], // character_not_in_repertoire
  ["22001", "invalid-data"], // string_data_right_truncation
  ["22003", "invalid-data"], // numeric_value_out_of_range
  ["22008", "invalid-data"], // datetime_field_overflow
  ["54000", "invalid-data"], // program_limit_exceeded
  ["23505", "permanent"], // unique_violation
  ["25P02", "permanent"], // in_failed_sql_transaction
  ["28P01", "permanent"], // invalid_password
  ["3D000", "permanent"], // invalid_catalog_name
  ["42501", "permanent"], // insufficient_privilege
  ["42601", "permanent"], // syntax_error
  ["42P01", "permanent"], // undefined_table
  ["XX000", "permanent"], // internal_error
  ["ECONNREFUSED", "unknown-outcome", "transient"],
  ["ECONNRESET", "unknown-outcome", "transient"],
  ["EPIPE", "unknown-outcome", "transient"], // five capitals, but no SQLSTATE
  ["ETIMEDOUT", "unknown-outcome", "transient"],
  ["ENOTFOUND", "unknown-outcome", "transient"],
  ["EAI_AGAIN", "unknown-outcome", "transient"],
  ["EHOSTUNREACH", "unknown-outcome", "transient"],
  ["ENOENT", "unknown-outcome", "transient"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "unknown-outcome", "permanent"],
  ["ERR_MODULE_NOT_FOUND", "unknown-outcome", "permanent"],
];

describe("classifyError", () => {
  for (const [code, inStatement, whileConnecting = inStatement] of table) {
    it(`takes ${code} for ${inStatement} in a statement, ${whileConnecting} while connecting`, async () => {
      expect(classifyError(await thrownIn("query", withCode(code)))).toBe(inStatement);
      expect(classifyError(await thrownIn("connect", withCode(code)))).toBe(whileConnecting);
    });
  }

  it("takes an error of pg without a code for a lost connection, whatever it says", async () => {
    for (const message of [
      "Connection terminated unexpectedly",
      "Client has encountered a connection error and is not queryable",
      "anything else",
    ]) {
      expect(classifyError(await thrownIn("query", new Error(message)))).toBe("unknown-outcome");
      expect(classifyError(await thrownIn("connect", new Error(message)))).toBe("transient");
    }
  });

  it("does not know what became of a statement that was not answered in time", async () => {
    expect(classifyError(await thrownIn("query", new QueryTimeoutError(1)))).toBe(
      "unknown-outcome",
    );
  });

  it("takes a bug for a bug", async () => {
    expect(classifyError(await thrownIn("query", new TypeError("x is not a function")))).toBe(
      "permanent",
    );
    expect(classifyError(new Error("thrown by the driver's own code"))).toBe("permanent");
    expect(classifyError("a string")).toBe("permanent");
    expect(classifyError(undefined)).toBe("permanent");
  });
});

describe("sqlState", () => {
  it("is only of codes that have its form", () => {
    expect(sqlState(withCode("40001"))).toBe("40001");
    expect(sqlState(withCode("EPIPE"))).toBeUndefined();
    expect(sqlState(withCode("ECONNRESET"))).toBeUndefined();
    expect(sqlState({ code: 40_001 })).toBeUndefined();
    expect(sqlState(null)).toBeUndefined();
  });
});
