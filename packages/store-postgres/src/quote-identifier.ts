import { InvalidArgumentError } from "@outbox/core";

/** PostgreSQL cuts longer names off silently (NAMEDATALEN - 1), and two of them may become one. */
export const maxIdentifierBytes = 63;

/**
 * The one way a name gets into SQL: checked, then quoted, so that no name is ever cut off, folded
 * to lower case or read as SQL.
 */
export function quoteIdentifier(argument: string, name: string): string {
  return `"${checkIdentifier(argument, name).replaceAll('"', '""')}"`;
}

/** A text as an SQL literal, for statements that take no parameters (DDL). */
export function quoteLiteral(text: string): string {
  // `E''` where there is a backslash, so that standard_conforming_strings does not matter.
  const quoted = `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  return text.includes("\\") ? `E${quoted}` : quoted;
}

function checkIdentifier(argument: string, name: unknown): string {
  if (typeof name !== "string") {
    throw new InvalidArgumentError(argument, `must be a string, not ${typeof name}`);
  }
  if (name === "") throw new InvalidArgumentError(argument, "is empty; give a name");
  if (name.includes("\u0000")) {
    throw new InvalidArgumentError(argument, "contains U+0000, which PostgreSQL cannot store");
  }
  if (/\p{Surrogate}/u.test(name)) {
    throw new InvalidArgumentError(argument, "contains a lone surrogate, which is not Unicode");
  }
  const bytes = Buffer.byteLength(name);
  if (bytes > maxIdentifierBytes) {
    throw new InvalidArgumentError(
      argument,
      `makes the name ${JSON.stringify(name)} of ${bytes} bytes; PostgreSQL's limit is ${maxIdentifierBytes}, choose a shorter one`,
    );
  }
  return name;
}
