import type { ReceivedMessage } from "./received-message.js";
import { messageBytes, type TextAttributes } from "./snapshot/message-attributes.js";
import { storableAttribute } from "./snapshot/message-text.js";

/** Attribute of a dead-lettered message that is no entry: what is wrong with it. */
const problemAttribute = "outbox.problem";

/** Most attributes of one message. */
const mostAttributes = 10;

/** The message as it came, and beside it what is wrong with it, as far as there is room. */
export function unusableMessage(
  { body, attributes }: Pick<ReceivedMessage, "body" | "attributes">,
  problem: string,
  maxBytes: number | null,
): { readonly body: string; readonly attributes: TextAttributes } {
  const own = Object.entries(attributes).slice(0, mostAttributes - 1);
  const candidates: readonly TextAttributes[] = [
    { ...Object.fromEntries(own), [problemAttribute]: storableAttribute(problem.slice(0, 500)) },
    { [problemAttribute]: storableAttribute(problem.slice(0, 500)) },
    attributes,
  ];
  const fitting = candidates.find(
    (one) => maxBytes === null || messageBytes(body, one) <= maxBytes,
  );
  return { body, attributes: fitting ?? {} };
}
