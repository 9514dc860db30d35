/**
 * A program that has a temporary server and comes to an end in the way that its argument names. It
 * prints the server's URL once it runs.
 */
import { setTimeout as delay } from "node:timers/promises";
import { queryServer } from "./query-server.js";
import { startTemporaryPostgres } from "./start-temporary-postgres.js";

const [ending] = process.argv.slice(2);
const server = await startTemporaryPostgres({ durable: false });

switch (ending) {
  case "return":
    break;
  case "process.exit":
    process.exit(3);
    break;
  case "exception":
    setImmediate(() => {
      throw new Error("uncaught");
    });
    break;
  case "own shutdown":
    process.once("SIGINT", async () => {
      await delay(300);
      await queryServer(server.url, "select 1");
      await server.stop();
      process.exit(7);
    });
    break;
  case "exit on SIGINT":
    process.once("SIGINT", () => process.exit(8));
    break;
}
console.log(server.url);
if (ending?.match(/signal|SIGINT|own shutdown/)) setInterval(() => undefined, 60_000);
