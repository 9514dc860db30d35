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
  let isConnected = false;

  function tell(connected: boolean, error?: unknown): void {
    if (connected === isConnected && error === undefined) return;
    isConnected = connected;
    for (const { onConnectionChange } of subscribers) onConnectionChange?.(connected, error);
  }

  async function listen(signal: AbortSignal, attempted: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let cause: unknown;
      try {
        const connection = await open(() => {
          for (const { onWakeUp } of subscribers) onWakeUp();
        });
        failures = 0;
        if (!signal.aborted) tell(true);
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
    isConnected = false;
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
          return isOpen && isConnected;
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
