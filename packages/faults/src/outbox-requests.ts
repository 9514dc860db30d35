import type { RequestMatcher } from "./fault-proxy.js";

/** A claim of the PostgreSQL store. */
export const isClaim: RequestMatcher = (sent) => sent.includes("picked as materialized");

/** A batch of results, written by the PostgreSQL store. */
export const isCompletion: RequestMatcher = (sent) => sent.includes("decided as materialized");
