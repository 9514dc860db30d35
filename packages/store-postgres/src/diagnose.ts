import type { Finding } from "@outbox/core";
import { checkSchema } from "./check-schema.js";
import type { StoreContext } from "./store-context.js";

export async function diagnose(context: StoreContext): Promise<readonly Finding[]> {
  const report = await checkSchema(context);
  return report.problems.map((problem) => ({
    code: "outbox.doctor.schema",
    severity: "error",
    message: problem,
    remedy: "",
  }));
}
