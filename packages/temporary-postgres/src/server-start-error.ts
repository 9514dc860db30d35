/** A server did not start; the message has the end of its log and says what to check. */
export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
  /** Whether another process listens on the port. */
  readonly portTaken: boolean;
  /** Whether processes of a killed predecessor still have to end. */
  readonly predecessorAlive: boolean;

  constructor(what: string, output: string, remedy: string, cause?: Error) {
    const tail = output.trimEnd().split("\n").slice(-20).join("\n");
    super(`${what}. Its output ends with:\n${tail || cause?.message || "(nothing)"}\n${remedy}`, {
      cause,
    });
    this.portTaken = /address (already )?in use|could not bind/i.test(output);
    this.predecessorAlive = /pre-existing shared memory block/.test(output);
  }
}
