/**
 * The database did not answer within `queryTimeoutMs`. The statement may have been applied; its
 * connection is given up.
 */
export class QueryTimeoutError extends Error {
  override readonly name = "QueryTimeoutError";
  readonly code = "OUTBOX_QUERY_TIMEOUT";

  constructor(timeoutMs: number) {
    super(
      `PostgreSQL did not answer within ${timeoutMs} ms (option queryTimeoutMs); the connection was given up`,
    );
  }
}
