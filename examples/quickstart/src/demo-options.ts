import { parseArgs } from "node:util";

export interface DemoOptions {
  /** Business transactions, of which about one in ten rolls back. */
  readonly orders: number;
  readonly producers: number;
  readonly workers: number;
  readonly leaseDurationMs: number;
}

export const usage = `Usage: pnpm demo [--orders 2000] [--producers 2] [--workers 3] [--lease-ms 5000]`;

/** @throws with a sentence for the user */
export function parseDemoOptions(argumentsGiven: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    // `pnpm demo -- --orders 500` hands the separator on.
    args: argumentsGiven.filter((argument) => argument !== "--"),
    options: {
      orders: { type: "string", default: "2000" },
      producers: { type: "string", default: "2" },
      workers: { type: "string", default: "3" },
      "lease-ms": { type: "string", default: "5000" },
    },
  });
  return {
    orders: integer("--orders", values.orders, 50, 100_000),
    producers: integer("--producers", values.producers, 1, 8),
    // One is killed, and another has to take over.
    workers: integer("--workers", values.workers, 2, 16),
    leaseDurationMs: integer("--lease-ms", values["lease-ms"], 2_000, 60_000),
  };
}

function integer(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${flag} must be a whole number from ${min} to ${max}, not ${text}.`);
}
