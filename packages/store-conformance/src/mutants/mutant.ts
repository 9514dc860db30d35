import type { StoreDriver } from "@outbox/core";
import type { RawProbes } from "../harness/raw-probes.js";
import type { OutboxUnderTest } from "../harness/store-harness.js";
import type { CaseSubject } from "../suite/case-subject.js";
import type { ConformanceCase, NotRun } from "../suite/conformance-case.js";

/**
 * A store that is broken in one way, as a layer over any good one: the proof that a case can fail.
 * It survives if the case that is named here passes on it.
 */
export interface Mutant {
  readonly id: string;
  /** What it does wrong, as a sentence without a subject. */
  readonly description: string;
  readonly killedBy: ConformanceCase["id"];
  /** How the case must run here for the fault to matter. @defaultValue `"run"` */
  readonly mode?: "run" | "negative";
  /** Loses by timing: its case must fail in each of several rounds. */
  readonly isRace?: boolean;
  /** Where it cannot be tried, and why, beyond what its case requires. */
  requires?(subject: CaseSubject): NotRun | undefined;
  /**
   * Breaks the driver. `raw` may be called once the outbox is open, so not before the first call
   * of the driver.
   */
  wrap?<Driver extends StoreDriver<never>>(driver: Driver, raw: () => RawProbes): Driver;
  /** Breaks what a driver cannot: what core adds to it, or the harness. */
  wrapOutbox?(outbox: OutboxUnderTest): OutboxUnderTest;
}
