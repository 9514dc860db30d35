import type { CaseContext } from "../suite/case-context.js";
import type { ClaimLoopOrder } from "./claim-loop-messages.js";
import { type LeaseRecord, startClaimLoop } from "./start-claim-loop.js";

/** Lets several processes claim at once; every lease that any of them won. */
export async function runClaimLoops(
  context: CaseContext,
  {
    processes,
    ...order
  }: Omit<ClaimLoopOrder, "module" | "args" | "mutantId" | "workerId" | "seed"> & {
    readonly processes: number;
  },
): Promise<readonly LeaseRecord[]> {
  const loops = Array.from({ length: processes }, (_, index) =>
    startClaimLoop(context, { ...order, workerId: `process-${index + 1}`, seed: index + 1 }),
  );
  try {
    await Promise.all(loops.map((loop) => loop.done()));
    return loops.flatMap((loop) => loop.leases());
  } finally {
    await Promise.all(loops.map((loop) => loop.kill()));
  }
}
