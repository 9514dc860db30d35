import type { OpenNotificationConnection } from "../wake-up.js";
import type { Pglite } from "./pglite-connections.js";

/** Listens on PGlite, which is in this process and cannot be lost. */
export function pgliteNotifications(pglite: Pglite, channel: string): OpenNotificationConnection {
  return async (onNotification) => {
    const unlisten = await pglite.listen(channel, onNotification);
    return {
      ended: new Promise(() => {}),
      async ping() {},
      close: () => unlisten(),
    };
  };
}
