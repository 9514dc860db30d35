import type { HttpFetchResponse } from "./http-emitter-options.js";

/** A body up to here is read to its end, so that the connection can be used again, in bytes. */
const maxReadBytes = 64 * 1024;

/**
 * Reads the body, and cancels what is beyond the bound: a body that is neither read nor cancelled
 * keeps its connection.
 *
 * @throws whatever the connection broke with
 */
export async function readResponseText(response: HttpFetchResponse): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    bytes += value.byteLength;
    if (bytes >= maxReadBytes) {
      // Not awaited: whether the other side notices is of no interest.
      reader.cancel().catch(() => undefined);
      return text;
    }
  }
}
