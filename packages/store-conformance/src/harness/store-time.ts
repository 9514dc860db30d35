/**
 * How the kit lets the store's time pass.
 *
 * - `shift`: the clock is the database's and cannot be set, so every stored instant of this outbox
 *   (due times, leases, createdAt, ...) is moved back by `ms`, in one statement; triggers of the
 *   harness's own must not fire
 * - `clock`: the harness owns the clock that the store reads and moves it forward
 * - `wait`: really waits. Cases that would wait longer than 5 s are reported as not run
 */
export interface StoreTime {
  readonly mode: "shift" | "clock" | "wait";
  advance(ms: number): Promise<void>;
}
