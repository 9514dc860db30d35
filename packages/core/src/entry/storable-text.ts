import { errorMessage } from "../errors/error-message.js";

/** Longest stored message or reason, in UTF-16 code units. */
export const maxTextLength = 2_000;

/** Longest stored error code, in UTF-16 code units. */
export const maxCodeLength = 255;

/**
 * Makes a text that no store refuses, of anything (of an error, its message), replacing visibly:
 * U+0000 by "␀", a lone surrogate by "�", and what is beyond the bound by a count. Credentials in
 * URLs are masked: error texts of clients like to quote the connection string.
 */
export function storableText(text: unknown, maxLength: number = maxTextLength): string {
  const clean = errorMessage(text)
    .replaceAll("\u0000", "\u2400")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    // Up to the last @: a password may contain one.
    .replace(/:\/\/[^\s/]*@/g, "://***@");
  if (clean.length <= maxLength) return clean;
  const note = ` … (${clean.length} characters)`;
  // The cut may have split a surrogate pair.
  return clean.slice(0, maxLength - note.length).replace(/\p{Surrogate}/gu, "") + note;
}
