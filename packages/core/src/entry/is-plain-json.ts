/** Deeper data, and with it a cycle, is not looked through here. */
const deepest = 64;

/**
 * Whether `JSON.stringify` certainly loses nothing of the value: plain objects and arrays of what
 * JSON has. The quick look before the slow one; when in doubt, no.
 */
export function isPlainJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || (depth < deepest && hasPlainMembers(value, depth + 1));
    default:
      return false;
  }
}

function hasPlainMembers(value: object, depth: number): boolean {
  if ("toJSON" in value) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (!isPlainJson(value[index], depth)) return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (member !== undefined && !isPlainJson(member, depth)) return false;
  }
  return true;
}
