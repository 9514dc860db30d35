/**
 * What SQS refuses in a body, and beside it every surrogate: SQS takes pairs, but not every
 * emulator does. Control characters are escaped by JSON already.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
const refusedInJson = /[\ufffe\uffff\ud800-\udfff]/g;

/** As `refusedInJson`, and the control characters that XML does not know. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const refusedInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\ud800-\udfff]/g;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** JSON text that says the same in characters that SQS takes. */
export function storableJson(json: string): string {
  return json.replace(refusedInJson, escaped);
}

/** A text in characters that SQS takes; what it refuses is written as in JSON. */
export function storableAttribute(text: string): string {
  return text.replace(refusedInText, escaped);
}
