import { type ChildProcess, fork } from "node:child_process";
import type { CaseContext } from "../suite/case-context.js";
import type { ClaimLoopMessage, ClaimLoopOrder, LoggedClaim } from "./claim-loop-messages.js";
import { createDeferred } from "./deferred.js";

/** The sources are TypeScript; what is published is one script beside the other chunks. */
const script = new URL(
  import.meta.url.endsWith(".ts") ? "./claim-loop.ts" : "./claim-loop.js",
  import.meta.url,
);

/** A claim and whether its process ended it. */
export interface LeaseRecord extends LoggedClaim {
  readonly ended: boolean;
}

/** A running process that claims. */
export interface ClaimLoop {
  /** What it reported so far. */
  leases(): readonly LeaseRecord[];
  /** Resolves with the first report of a claim (even of an empty one). */
  claimed(): Promise<void>;
  /** Resolves when it is done; rejects if it failed or died unasked. */
  done(): Promise<void>;
  /** SIGKILL, and waits until the process is gone. */
  kill(): Promise<void>;
}

/** Starts a process that claims from the context's outbox. */
export function startClaimLoop(
  context: CaseContext,
  order: Omit<ClaimLoopOrder, "module" | "args" | "mutantId">,
): ClaimLoop {
  if (context.processes === undefined) throw new Error("the harness has no `processes`");
  const { module, args, execArgv = [] } = context.processes;
  const child = fork(script, {
    execArgv: [...execArgv],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  child.send({ ...order, module, args, mutantId: context.mutantId } satisfies ClaimLoopOrder);
  return followClaimLoop(child, order.workerId);
}

function followClaimLoop(child: ChildProcess, workerId: string): ClaimLoop {
  const claims: LoggedClaim[] = [];
  const ended = new Set<string>();
  const claimed = createDeferred();
  const done = createDeferred();
  const gone = createDeferred();
  let output = "";
  let isDone = false;

  const fail = (reason: string) => {
    const error = new Error(`process ${workerId} ${reason}${output && `\nIts output:\n${output}`}`);
    claimed.reject(error);
    done.reject(error);
  };
  // Whoever does not wait for one of them must not be struck by its rejection.
  claimed.promise.catch(() => undefined);
  done.promise.catch(() => undefined);

  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    });
  }
  child.on("message", (message: ClaimLoopMessage) => {
    switch (message.kind) {
      case "claimed":
        claims.push(...message.claims);
        claimed.resolve();
        break;
      case "ended":
        for (const token of message.claimTokens) ended.add(token);
        break;
      case "done":
        isDone = true;
        done.resolve();
        break;
      case "failed":
        fail(`failed: ${message.error}`);
        break;
    }
  });
  child.once("error", (error) => fail(`could not be started: ${error.message}`));
  child.once("exit", (code, signal) => {
    if (!isDone) fail(`ended early (${signal ?? `exit code ${code}`})`);
    gone.resolve();
  });

  return {
    leases: () => claims.map((claim) => ({ ...claim, ended: ended.has(claim.claimToken) })),
    claimed: () => claimed.promise,
    done: () => done.promise,
    kill: async () => {
      child.kill("SIGKILL");
      await gone.promise;
    },
  };
}
