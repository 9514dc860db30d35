/** The message of anything that was thrown, even of something whose own `toString` throws. */
export function errorMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "something that cannot be shown";
  }
}
