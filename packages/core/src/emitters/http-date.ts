const months = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const time = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)";

/** The three forms of RFC 9110, section 5.6.7; the last two are obsolete and must still be understood. */
const forms = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>${months}) (?<year>\\d{4}) ${time} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>${months})-(?<year>\\d\\d) ${time} GMT$`),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^[A-Z][a-z]{2} (?<month>${months}) (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Milliseconds since 1970 of an HTTP date, or `undefined` if the text is none.
 *
 * Not `Date.parse`: it takes almost anything for a date, and the third form for local time.
 */
export function parseHttpDate(text: string): number | undefined {
  for (const form of forms) {
    const parts = form.exec(text.trim())?.groups;
    if (!parts) continue;
    const month = months.split("|").indexOf(parts.month ?? "");
    const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(
      Number,
    ) as [number, number, number, number];
    // 60 is a leap second.
    if (day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined;
    return Date.UTC(fullYear(parts.year ?? ""), month, day, hour, minute, second);
  }
  return undefined;
}

/** A two-digit year that would lie more than 50 years ahead belongs to the last century. */
function fullYear(digits: string): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date().getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
