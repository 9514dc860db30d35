/** A value as it travels: always text, so that no driver's type mapping has a say. */
export type SqlValue = string | null;

/** A statement and its values. Equal texts are one prepared statement where those are asked for. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A row as it comes back: every column was cast to text in SQL. */
export type Row = readonly (string | null)[];

/** Numbers the parameters of a statement that is put together from parts. */
export class Parameters {
  readonly values: SqlValue[] = [];

  /** The placeholder of a value, typed in SQL: PostgreSQL then infers nothing from its neighbours. */
  add(value: SqlValue | number, type: string): string {
    this.values.push(typeof value === "number" ? String(value) : value);
    return `$${this.values.length}::${type}`;
  }

  /** The same for an array of texts or numbers. */
  addArray(items: readonly (string | number | null)[], type: string): string {
    return this.add(arrayLiteral(items), `${type}[]`);
  }

  statement(text: string): Statement {
    return { text, values: this.values };
  }
}

/** PostgreSQL's text form of an array. Every element is quoted, so nothing in it is special. */
export function arrayLiteral(items: readonly (string | number | null)[]): string {
  return `{${items.map(element).join(",")}}`;
}

function element(item: string | number | null): string {
  if (item === null) return "NULL";
  if (typeof item === "number") return String(item);
  return `"${item.includes("\\") || item.includes('"') ? item.replace(/[\\"]/g, "\\$&") : item}"`;
}
