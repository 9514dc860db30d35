import colors from "picocolors";
import { parseDemoOptions, usage } from "./demo-options.js";
import { printLedger, seconds } from "./print-ledger.js";
import { Progress } from "./progress.js";
import { runDemo } from "./run-demo.js";
import { Interrupted, stopOnSignals } from "./stop-on-signals.js";

const introduction = `
${colors.bold("The main job of a transactional outbox, end to end, on a real PostgreSQL.")}
 1. Producers place orders; one transaction writes the order and the message about it. Some roll back.
 2. Workers claim the messages under leases and send them over HTTP, at least once.
 3. The receiver refuses some, never answers a few, and keeps a ledger of its own.
 4. Half-way a worker is killed while it holds claims; the others take them over.
 5. At the end the ledgers are compared: nothing may be lost, nothing rolled back may get out.
`;

const readNext = `
Read next, in examples/quickstart/src:
  place-order.ts  how a message joins your transaction
  worker.ts       how a worker is set up
  create-receiver.ts, receiver-ledger.ts  how a receiver recognises a duplicate
`;

const signal = stopOnSignals();
const progress = new Progress({ output: process.stdout, lineIntervalMs: 2_000 });
process.exitCode = await main();
// Whatever might still be open must not keep a finished demo alive.
process.exit();

async function main(): Promise<number> {
  const startedAt = performance.now();
  try {
    const options = parseDemoOptions(process.argv.slice(2));
    console.log(introduction);
    const ledger = await runDemo(options, progress, signal);
    console.log(["", ...printLedger(ledger), ""].join("\n"));
    const took = `in ${seconds(performance.now() - startedAt)}`;
    if (ledger.failures.length > 0) {
      console.log(colors.red(`FAILED ${took}:`));
      for (const failure of ledger.failures) console.log(`  - ${failure}`);
      return 1;
    }
    console.log(`${colors.green("PASSED")} ${took}: every committed order arrived, and no other.`);
    console.log(readNext);
    return 0;
  } catch (error) {
    progress.clear();
    if (signal.reason instanceof Interrupted) {
      console.error(`${signal.reason.message} Nothing is left running.`);
      return signal.reason.exitCode;
    }
    console.error(colors.red(error instanceof Error ? error.message : String(error)));
    console.error(usage);
    return 1;
  }
}
