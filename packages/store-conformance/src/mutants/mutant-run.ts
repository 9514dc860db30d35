import type { StoreHarness } from "../harness/store-harness.js";
import { findCase } from "../suite/all-cases.js";
import { type CaseSubject, describeSubject } from "../suite/case-subject.js";
import { type ConformanceCase, isNotRun } from "../suite/conformance-case.js";
import type { StoreConformanceOptions } from "../suite/conformance-run.js";
import { decideCase, runCase } from "../suite/run-case.js";
import { mutants } from "./all-mutants.js";
import type { Mutant } from "./mutant.js";

/** What a store's package says to prove the suite on its store. */
export interface StoreMutantsOptions extends Omit<StoreConformanceOptions, "skip"> {
  /** Mutants of the store's own, besides those of the kit. */
  readonly mutants?: readonly Mutant[] | undefined;
  /**
   * Ids of those to try, where another suite of the same store tries the rest.
   *
   * @defaultValue all
   */
  readonly only?: readonly string[] | undefined;
}

/** What became of one broken store. */
export interface MutantReport {
  readonly mutant: Mutant;
  readonly outcome: "killed" | "survived" | "not-run";
  /** How it was noticed, or why it was not. */
  readonly detail: string;
}

const raceRounds = 3;

/**
 * Runs the case that each broken store names, on it and on the good store: it must fail there and
 * pass here.
 */
export class MutantRun {
  readonly mutants: readonly Mutant[];
  readonly #options: StoreMutantsOptions;
  readonly #reports = new Map<Mutant, MutantReport>();
  readonly #goodRuns = new Map<ConformanceCase, Promise<void>>();
  #opened:
    | { readonly harness: StoreHarness; readonly subject: CaseSubject; readonly writes: boolean }
    | undefined;

  constructor(options: StoreMutantsOptions) {
    this.#options = options;
    const all = [...mutants, ...(options.mutants ?? [])];
    for (const { killedBy } of all) findCase(killedBy);
    const { only = all.map(({ id }) => id) } = options;
    for (const id of only) {
      if (!all.some((mutant) => mutant.id === id)) {
        throw new TypeError(`only names "${id}", and there is no such mutant`);
      }
    }
    this.mutants = all.filter(({ id }) => only.includes(id));
  }

  async open(): Promise<void> {
    const harness = await this.#options.harness();
    const outbox = await harness.createOutbox();
    const subject = describeSubject(outbox, this.#options.capabilities);
    const writes = outbox.raw.writeEntry !== undefined;
    await outbox.close();
    this.#opened = { harness, subject, writes };
  }

  /** Tries one mutant. Rejects if its case fails on the good store too: that proves nothing. */
  async run(mutant: Mutant): Promise<MutantReport> {
    const report = await this.#run(mutant);
    this.#reports.set(mutant, report);
    return report;
  }

  async #run(mutant: Mutant): Promise<MutantReport> {
    if (this.#opened === undefined) throw new Error("open the run before its first mutant");
    const { harness, subject, writes } = this.#opened;
    const notRun = (reason: string): MutantReport => ({
      mutant,
      outcome: "not-run",
      detail: reason,
    });
    const killer = findCase(mutant.killedBy);
    const decision = decideCase(killer, subject);
    if (isNotRun(decision)) return notRun(decision.notRun);
    if (decision !== (mutant.mode ?? "run")) {
      return notRun(
        decision === "negative"
          ? "the store denies the capability that is broken"
          : "the store has the capability that it would have to deny",
      );
    }
    if (mutant.wrap !== undefined && !writes) {
      return notRun("the harness's raw probes have no writeEntry");
    }
    const refusal = mutant.requires?.(subject);
    if (refusal !== undefined) return notRun(refusal.notRun);

    await this.#runOnGoodStore(killer, harness, decision);
    const { capabilities } = this.#options;
    let noticed = "";
    for (let round = 1; round <= (mutant.isRace === true ? raceRounds : 1); round++) {
      try {
        await runCase(killer, harness, { capabilities, decision, mutant });
      } catch (error) {
        noticed = whatWasNoticed(mutant, error);
        continue;
      }
      return { mutant, outcome: "survived", detail: `${killer.id} passed in round ${round}` };
    }
    return { mutant, outcome: "killed", detail: noticed };
  }

  #runOnGoodStore(
    killer: ConformanceCase,
    harness: StoreHarness,
    decision: "run" | "negative",
  ): Promise<void> {
    const { capabilities } = this.#options;
    const earlier = this.#goodRuns.get(killer);
    if (earlier !== undefined) return earlier;
    const run = runCase(killer, harness, { capabilities, decision });
    this.#goodRuns.set(killer, run);
    return run;
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.harness.close();
  }

  get reports(): readonly MutantReport[] {
    return this.mutants.flatMap((mutant) => this.#reports.get(mutant) ?? []);
  }

  /** One line per mutant: what it does, which case noticed, and whether. */
  table(): string {
    const { reports } = this;
    const count = (outcome: MutantReport["outcome"]) =>
      reports.filter((report) => report.outcome === outcome).length;
    return [
      `store mutants: ${this.#options.name}: ${count("killed")} killed, ${count("survived")} survived, ${count("not-run")} not run`,
      ...reports.map(({ mutant, outcome, detail }) =>
        [
          outcome === "killed" ? "  ok  " : outcome === "survived" ? "  SURVIVED  " : "  not run  ",
          `${mutant.id} (${mutant.description}): `,
          outcome === "killed" ? `killed by ${mutant.killedBy}` : detail,
        ].join(""),
      ),
    ].join("\n");
  }
}

/** A case notices by an assertion, or by what the store threw; anything else is a broken mutant. */
function whatWasNoticed(mutant: Mutant, error: unknown): string {
  const code: unknown =
    typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "ERR_ASSERTION" || String(code).startsWith("outbox.")) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error(`mutant ${mutant.id} is itself out of order`, { cause: error });
}
