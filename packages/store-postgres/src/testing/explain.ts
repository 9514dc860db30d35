import type pg from "pg";
import type { Statement } from "../sql/statement.js";

/** A node of EXPLAIN (FORMAT JSON), as far as tests look. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Subplan Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExecutedPlan {
  readonly nodes: readonly PlanNode[];
  /** Shared buffers read or hit by the whole statement. */
  readonly buffers: number;
}

/** Runs the statement under EXPLAIN ANALYZE and rolls it back. */
export async function explain(
  client: pg.ClientBase,
  { text, values }: Statement,
  { rollback = true }: { readonly rollback?: boolean } = {},
): Promise<ExecutedPlan> {
  if (rollback) await client.query("begin");
  const { rows } = await client.query({
    text: `explain (analyze, buffers, format json) ${text}`,
    values: [...values],
  });
  if (rollback) await client.query("rollback");
  const [{ Plan: root }] = rows[0]["QUERY PLAN"];
  return {
    nodes: flatten(root),
    buffers: root["Shared Hit Blocks"] + root["Shared Read Blocks"],
  };
}

/** Nodes that read the table. */
export function scansOf(plan: ExecutedPlan, table: string): readonly PlanNode[] {
  return plan.nodes.filter(
    (node) => node["Relation Name"] === table && node["Node Type"] !== "ModifyTable",
  );
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
