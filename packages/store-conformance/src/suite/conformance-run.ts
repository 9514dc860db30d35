import type { StoreCapabilities } from "@outbox/core";
import type { CreateHarness } from "../harness/create-harness.js";
import type { StoreHarness } from "../harness/store-harness.js";
import { conformanceCases } from "./all-cases.js";
import { type CaseSubject, describeSubject } from "./case-subject.js";
import { type ConformanceCase, isNotRun } from "./conformance-case.js";
import { formatMatrix } from "./format-matrix.js";
import { decideCase, runCase } from "./run-case.js";

/** What a store's package says to run the suite. */
export interface StoreConformanceOptions {
  /** The store's name in the report. */
  readonly name: string;
  /** What the store declares; the suite checks that it is what the store itself says. */
  readonly capabilities: StoreCapabilities;
  readonly harness: CreateHarness;
  /** Cases that are known not to hold, each with its reason, which is reported. */
  readonly skip?: Readonly<Record<string, string>> | undefined;
}

/** What became of one case. */
export interface CaseReport {
  readonly case: ConformanceCase;
  readonly outcome: "passed" | "failed" | "not-run";
  /** `negative`: the store denies the capability, and behaves so. */
  readonly mode: "run" | "negative" | "not-run";
  /** Why it was not run. */
  readonly reason?: string;
  readonly error?: unknown;
}

/**
 * The suite on one store, for any test runner: `open`, then `run` each of `cases`, then `close`,
 * then print `matrix()`.
 */
export class ConformanceRun {
  readonly cases: readonly ConformanceCase[] = conformanceCases;
  readonly #options: StoreConformanceOptions;
  readonly #reports = new Map<string, CaseReport>();
  #opened: { readonly harness: StoreHarness; readonly subject: CaseSubject } | undefined;

  constructor(options: StoreConformanceOptions) {
    this.#options = options;
    for (const id of Object.keys(options.skip ?? {})) {
      if (!this.cases.some((one) => one.id === id)) {
        throw new TypeError(`skip names "${id}", and there is no such case`);
      }
    }
  }

  async open(): Promise<void> {
    const harness = await this.#options.harness();
    const outbox = await harness.createOutbox();
    const subject = describeSubject(outbox, this.#options.capabilities);
    await outbox.close();
    this.#opened = { harness, subject };
  }

  /** Runs one case and remembers its report. Does not throw for a failed case. */
  async run(one: ConformanceCase): Promise<CaseReport> {
    const report = await this.#run(one);
    this.#reports.set(one.id, report);
    return report;
  }

  async #run(one: ConformanceCase): Promise<CaseReport> {
    if (this.#opened === undefined) throw new Error("open the run before its first case");
    const { harness, subject } = this.#opened;
    const skipped = this.#options.skip?.[one.id];
    const decision =
      skipped === undefined
        ? decideCase(one, subject)
        : { notRun: `skipped by the store's own suite: ${skipped}` };
    if (isNotRun(decision)) {
      return { case: one, outcome: "not-run", mode: "not-run", reason: decision.notRun };
    }
    const { capabilities } = this.#options;
    try {
      await runCase(one, harness, { capabilities, decision });
      return { case: one, outcome: "passed", mode: decision };
    } catch (error) {
      return { case: one, outcome: "failed", mode: decision, error };
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.harness.close();
  }

  /** One report per case that was run or reported as not run, in the suite's order. */
  get reports(): readonly CaseReport[] {
    return this.cases.flatMap((one) => this.#reports.get(one.id) ?? []);
  }

  /** Invariant by case, and why what was not run was not. */
  matrix(): string {
    return formatMatrix(this.#options.name, this.cases, this.reports);
  }
}
