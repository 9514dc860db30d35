import { chance } from "./chance.js";

/**
 * - `accept`: process it, say 202
 * - `refuse`: do nothing, say 503
 * - `silence`: process it, and never answer
 */
export type Reaction = "accept" | "refuse" | "silence";

/** How the receiver reacts to the nth request about an order; from the third on it accepts all. */
export function chooseReaction(orderId: string, attempt: number): Reaction {
  const fate = chance(`receiver ${orderId}`);
  if (fate < 0.01) return attempt === 1 ? "silence" : "accept";
  if (fate < 0.03) return attempt <= 2 ? "refuse" : "accept";
  if (fate < 0.09) return attempt === 1 ? "refuse" : "accept";
  return "accept";
}
