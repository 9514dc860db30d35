import { setTimeout as sleep } from "node:timers/promises";
import type { WakeUpFacet, WakeUpListener, WakeUpSubscription } from "@outbox/core";

/** A connection that listens on the outbox's channel. */
export interface NotificationConnection {
  /** Resolves with the cause when the connection is over. */
  readonly ended: Promise<unknown>;
  /** Asks the server for an answer; rejects if there is none in time. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a connection and listens. `onNotification` is called for each notification. */
export type OpenNotificationConnection = (
  onNotification: () => void,
) => Promise<NotificationConnection>;

export interface WakeUpOptions {
  /** How often a silent connection is asked whether it is still there, in ms. */
  readonly keepAliveIntervalMs: number;
}

/** Delays between attempts to connect, in ms; half of it is random, so that workers part. */
const firstBackoffMs = 200;
const longestBackoffMs = 15_000;

/**
 * Wake-ups over one connection for all subscriptions of a store: opened for the first, closed after
 * the last, and opened again whenever it is lost. A socket that is dead without saying so shows by
 * an unanswered question.
 */
export function createWakeUp(
  open: OpenNotificationConnection,
  { keepAliveIntervalMs }: WakeUpOptions,
): WakeUpFacet & { close(): Promise<void> } {
  const subscribers = new Set<WakeUpListener>();
  let listening: { readonly end: AbortController; readonly done: Promise<void> } | null = null;
  let firstAttempt: Promise<void> = Promise.resolve();
  // Neither before the first attempt.
  let isConnected: boolean | null = null;

  function tell(connected: boolean, error?: unknown): void {
    if (connected === isConnected) return;
    isConnected = connected;
    for (const subscriber of subscribers)
      guarded(() => subscriber.onConnectionChange?.(connected, error));
  }

  async function listen(signal: AbortSignal, attempted: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let cause: unknown;
      try {
        const opening = open(() => {
          for (const subscriber of subscribers) guarded(() => subscriber.onWakeUp());
        });
        const connection = await Promise.race([opening, aborted(signal)]);
        if (connection === null) {
          // Nobody waits for an attempt that may take its whole timeout.
          opening.then((late) => late.close()).catch(() => {});
          break;
        }
        failures = 0;
        tell(true);
        attempted();
        cause = await untilOver(connection, signal);
      } catch (error) {
        cause = error;
      }
      if (signal.aborted) break;
      failures += 1;
      tell(false, cause ?? new Error("the server ended the listening connection"));
      attempted();
      const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1));
      await sleep(backoffMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
    }
    isConnected = null;
  }

  /** Resolves with the cause when the connection is lost, or closes it when no longer wanted. */
  async function untilOver(
    connection: NotificationConnection,
    signal: AbortSignal,
  ): Promise<unknown> {
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const silence = (async () => {
      while (!stopped.aborted) {
        await sleep(keepAliveIntervalMs, undefined, { signal: stopped }).catch(() => {});
        if (stopped.aborted) return undefined;
        try {
          await connection.ping();
        } catch (error) {
          return error;
        }
      }
      return undefined;
    })();
    try {
      return await Promise.race([connection.ended, silence]);
    } finally {
      stop.abort();
      await connection.close().catch(() => {});
    }
  }

  async function stop(): Promise<void> {
    const ending = listening;
    listening = null;
    ending?.end.abort();
    await ending?.done;
  }

  return {
    async subscribe(listener: WakeUpListener): Promise<WakeUpSubscription> {
      subscribers.add(listener);
      if (listening === null) {
        const end = new AbortController();
        firstAttempt = new Promise((resolve) => {
          listening = { end, done: listen(end.signal, resolve).finally(resolve) };
        });
      }
      // Not until it is connected: polling delivers meanwhile, and it heals by itself.
      await firstAttempt;
      let isOpen = true;
      return {
        get connected() {
          return isOpen && isConnected === true;
        },
        async close() {
          if (!isOpen) return;
          isOpen = false;
          subscribers.delete(listener);
          if (subscribers.size === 0) await stop();
        },
      };
    },
    async close() {
      subscribers.clear();
      await stop();
    },
  };
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

/** A subscriber's bug is not the connection's end. */
function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(
      `a wake-up listener threw: ${error instanceof Error ? error.message : String(error)}`,
      { type: "OutboxWarning", code: "OUTBOX_WAKE_UP_LISTENER" },
    );
  }
}
