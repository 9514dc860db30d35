/** `Z`, a length of 5, and `I`: outside a transaction, so whatever was sent is committed. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/**
 * Whether a server's answer ends here, with nothing left uncommitted.
 *
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function isReadyForQuery(answer: Buffer): boolean {
  return answer.subarray(-readyForQuery.length).equals(readyForQuery);
}
