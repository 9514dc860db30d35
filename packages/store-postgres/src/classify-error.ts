import type { StoreErrorKind } from "@outbox/core";
import { errorPhase } from "./connections/error-phase.js";

/**
 * Kinds by SQLSTATE or its class (two characters), the more specific first.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const kindBySqlState: Readonly<Record<string, StoreErrorKind>> = {
  // Class 40, transaction rollback: the server undid it. 40003 says that it does not know.
  "40": "transient",
  "40002": "permanent",
  "40003": "unknown-outcome",
  // Class 53, insufficient resources. A full disk or memory is refused before anything is written.
  "53": "transient",
  // Locked by someone else: lock_timeout, NOWAIT, DDL under way.
  "55P03": "transient",
  "55006": "transient",
  // Cancelled (statement_timeout, a person) or shut down in good order: interrupts are held off
  // while a transaction commits, so it did not.
  "57014": "transient",
  "57P01": "transient",
  // Another backend crashed, and this one went with it wherever it was.
  "57P02": "unknown-outcome",
  // Starting up, shutting down, in recovery.
  "57P03": "transient",
  "57P05": "transient",
  // A standby: after a failover the next connection may reach the primary.
  "25006": "transient",
  // Idle in a transaction for too long, or the whole transaction took too long: rolled back.
  "25P03": "transient",
  "25P04": "transient",
  // Class 08, connection exceptions; also what PgBouncer reports when a server goes away.
  "08": "unknown-outcome",
  // Class 58, system errors (I/O).
  "58": "transient",
  // Class 22, data exceptions: this value, not the batch. 22P02 text form, 22021 U+0000, 22P05
  // unsupported escape, 22001 too long, 22003 out of range, 22008 instant out of range.
  "22": "invalid-data",
  // Programs' limits: a text too big for its type, an index entry too big for a page.
  "54": "invalid-data",
};

/** Codes of Node.js for a network that failed. Before a statement was sent they are transient. */
const networkCodes: ReadonlySet<string> = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "EMFILE",
  "ENETDOWN",
  "ENETRESET",
  "ENETUNREACH",
  "ENFILE",
  "ENOENT", // a Unix socket that is not there (yet)
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "OUTBOX_QUERY_TIMEOUT",
]);

/** Kinds by number, never by message text, which is translated and reworded. */
export function classifyError(error: unknown): StoreErrorKind {
  const phase = errorPhase(error);
  if (phase === undefined) return "permanent";
  const state = sqlState(error);
  if (state !== undefined) {
    const kind = kindBySqlState[state] ?? kindBySqlState[state.slice(0, 2)] ?? "permanent";
    // Nothing was sent yet.
    return phase === "connect" && kind === "unknown-outcome" ? "transient" : kind;
  }
  if (isProgramError(error)) return "permanent";
  if (phase === "query") return "unknown-outcome";
  // pg's own errors about connecting have no code; an unknown one is about TLS, or a missing module.
  const code = textCode(error);
  return code === undefined || networkCodes.has(code) ? "transient" : "permanent";
}

/** The SQLSTATE of an error that the server (or a pooler) reported. */
export function sqlState(error: unknown): string | undefined {
  const code = textCode(error);
  // EPIPE has the form of one.
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.has(code)
    ? code
    : undefined;
}

function textCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

function isProgramError(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
}
