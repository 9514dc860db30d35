import { quoteIdentifier } from "../quote-identifier.js";
import type { NotificationConnection, OpenNotificationConnection } from "../wake-up.js";
import { loadPg } from "./owned-pool.js";
import type { PgSettings } from "./pg-types.js";

/** Longest wait for an answer to `ping`, in ms. */
const pingTimeoutMs = 5_000;

/**
 * Listens over a connection of its own, direct to the server: LISTEN belongs to a session, which a
 * pooler in transaction mode does not keep.
 */
export function pgNotifications(settings: PgSettings, channel: string): OpenNotificationConnection {
  return async (onNotification): Promise<NotificationConnection> => {
    const { Client } = await loadPg();
    const client = new Client({
      application_name: "outbox wake-up",
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      ...settings,
    });
    let isOver = false;
    const ended = new Promise<unknown>((resolve) => {
      const end = (cause?: unknown) => {
        isOver = true;
        resolve(cause);
      };
      client.on("error", end);
      client.on("end", end);
    });
    client.on("notification", ({ channel: name }) => {
      if (name === channel) onNotification();
    });
    const close = async () => {
      // After a loss `end()` of some versions waits for an event that has been.
      if (!isOver) await client.end();
    };
    try {
      await client.connect();
      await client.query(`listen ${quoteIdentifier("channel", channel)}`);
    } catch (error) {
      await close().catch(() => {});
      throw error;
    }
    return { ended, ping: () => ping(client), close };
  };
}

async function ping(client: { query(text: string): Promise<unknown> }): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the listening connection did not answer within ${pingTimeoutMs} ms`)),
      pingTimeoutMs,
    );
  });
  const answer = client.query("select 1");
  answer.catch(() => {});
  try {
    await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
