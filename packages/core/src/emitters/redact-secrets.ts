/** Headers whose values are no secrets, and likely to appear in texts. */
const harmless = new Set(["accept", "accept-language", "traceparent", "user-agent"]);

/** Shorter values hide too much of a text that merely contains them, in characters. */
const minSecretLength = 8;
const minSecretSegmentLength = 16;

/**
 * Removes from a receiver's text what the request kept secret. Receivers like to echo: a debug page
 * shows all headers, a proxy quotes the URL.
 */
export function redactSecrets(
  text: string,
  request: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
): string {
  const { url, headers } = request;
  const secrets = [
    ...Object.entries(headers)
      .filter(([name]) => !harmless.has(name.toLowerCase()))
      // `Bearer abc`, `a=b; c=d`: the whole, and what follows a space or an equals sign.
      .flatMap(([, value]) => [value, ...value.split(/[\s,;]+(?:[^\s,;=]+=)?|^[^\s,;=]+=/)])
      .filter((secret) => secret.length >= minSecretLength),
    ...[url.search.slice(1), ...url.searchParams.values()].filter(
      (secret) => secret.length >= minSecretLength,
    ),
    // Web hook addresses carry their token in the path.
    ...url.pathname.split("/").filter((segment) => segment.length >= minSecretSegmentLength),
  ];
  return secrets
    .sort((left, right) => right.length - left.length)
    .reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}
