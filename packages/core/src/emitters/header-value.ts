/**
 * Encodes any text as an HTTP header value, as the CloudEvents HTTP binding does it: UTF-8 bytes in
 * percent notation for space, double quote, percent, and whatever is not printable ASCII.
 *
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#3132-http-header-values
 */
export function headerValue(text: string): string {
  return text.replace(/[^\x21\x23\x24\x26-\x7e]/gu, (character) =>
    Array.from(
      Buffer.from(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""),
  );
}
