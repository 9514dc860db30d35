import { createHash } from "node:crypto";

/** Destination of entries that name none. */
export const defaultDestination = "default";

/** Longest id, type, key, owner or destination, in UTF-16 code units. */
export const maxIdLength = 255;

/**
 * The entry id of a (envelopeId, destination): readable and, for time-ordered envelope ids, in
 * their order, which keeps index pages warm. Escaping makes it unambiguous; what would be too long
 * becomes a hash.
 */
export function deriveEntryId(envelopeId: string, destination: string): string {
  const id =
    destination === defaultDestination
      ? escapeId(envelopeId)
      : `${escapeId(envelopeId)}@${escapeId(destination)}`;
  return id.length <= maxIdLength ? id : `sha256-${createHash("sha256").update(id).digest("hex")}`;
}

function escapeId(id: string): string {
  return id.replaceAll("%", "%25").replaceAll("@", "%40");
}
