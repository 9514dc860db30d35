/**
 * Named points in the life of an entry in a worker process:
 *
 * - `claiming`: the claim is about to be sent
 * - `claimed`: its answer is here, and nothing was done with it yet
 * - `emitting`: the emitter was called, and has sent nothing yet
 * - `emitted`: the receiver has answered, and the worker does not know yet
 * - `finalizing`: the result is about to be written
 * - `finalized`: it was written, and the worker does not know yet
 */
export type Point = "claiming" | "claimed" | "emitting" | "emitted" | "finalizing" | "finalized";

/** What happens to a worker process at a point, before its next instruction. */
export interface PointFault {
  readonly at: Point;
  /** Only when this entry is there. */
  readonly entryId?: string | undefined;
  /** The how many-th time that the rest fits; after that, never again. @defaultValue every time */
  readonly nth?: number | undefined;
  /**
   * - `kill`: SIGKILL
   * - `suspend`: SIGSTOP, until someone sends SIGCONT
   * - `stallMs`: the event loop is blocked for so long
   * - `announce`: the parent is told, nothing else
   */
  readonly fault: "kill" | "suspend" | "announce" | { readonly stallMs: number };
}
