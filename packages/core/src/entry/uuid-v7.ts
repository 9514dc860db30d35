import { randomFillSync } from "node:crypto";

/**
 * A UUID whose order is that of its creation in ms, so that fresh ids land on the same index pages.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
 */
export function uuidV7(): string {
  const bytes = randomFillSync(Buffer.allocUnsafe(16));
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
