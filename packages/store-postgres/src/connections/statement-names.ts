import { createHash } from "node:crypto";

/** Names for prepared statements: equal texts have equal names, in every process. */
export class StatementNames {
  readonly #names = new Map<string, string>();

  nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `outbox_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
      this.#names.set(text, name);
    }
    return name;
  }
}
