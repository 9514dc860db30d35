import { startTemporaryPostgres } from "@outbox/temporary-postgres";
import { startTemporarySqs } from "@outbox/temporary-sqs";
import { databaseDrainedIntoSqs } from "./database-drained-into-sqs.js";
import type { PatternReport } from "./pattern-report.js";
import { sqsAsTheOutbox } from "./sqs-as-the-outbox.js";

const introduction = `
Two honest ways to use an outbox with SQS, on an emulator and a temporary PostgreSQL.
 1. There is a database: the message is written in the transaction of the business row, and a
    worker drains it into SQS. Nothing that was rolled back gets out, nothing committed is lost.
 2. There is no database: SQS itself is the outbox of calls to others. There is no transaction to
    join, so an enqueue is its own commit.
`;

process.exitCode = await main();

async function main(): Promise<number> {
  console.log(introduction);
  const [postgres, sqs] = await Promise.all([startTemporaryPostgres(), startTemporarySqs()]);
  try {
    const reports = [
      await databaseDrainedIntoSqs(await postgres.createDatabase(), sqs),
      await sqsAsTheOutbox(sqs),
    ];
    for (const report of reports) print(report);
    return reports.some(({ failures }) => failures.length > 0) ? 1 : 0;
  } finally {
    await Promise.all([postgres.stop(), sqs.stop()]);
  }
}

function print({ title, lines, failures }: PatternReport): void {
  console.log(`${title}: ${failures.length === 0 ? "ok" : "FAILED"}`);
  for (const line of lines) console.log(`  ${line}`);
  for (const failure of failures) console.log(`  - ${failure}`);
}
