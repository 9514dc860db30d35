import type { TemporaryPostgres } from "@outbox/temporary-postgres";
import pg from "pg";

/** The two databases of the demo, which know nothing of each other. */
export interface Databases extends AsyncDisposable {
  /** The shop's: its orders, and the outbox beside them. */
  readonly shop: pg.Pool;
  readonly shopUrl: string;
  /** The receiver's. */
  readonly receiver: pg.Pool;
  readonly receiverUrl: string;
}

export async function createDatabases(postgres: TemporaryPostgres): Promise<Databases> {
  const shopUrl = await postgres.createDatabase("shop");
  const receiverUrl = await postgres.createDatabase("receiver");
  const shop = new pg.Pool({ connectionString: shopUrl, max: 3 });
  const receiver = new pg.Pool({ connectionString: receiverUrl, max: 1 });
  await shop.query(`
    create table orders (
      id text primary key,
      customer text not null,
      total_cents integer not null
    )`);
  return {
    shop,
    shopUrl,
    receiver,
    receiverUrl,
    async [Symbol.asyncDispose]() {
      await Promise.all([shop.end(), receiver.end()]);
    },
  };
}
