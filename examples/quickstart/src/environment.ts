/** A setting of this process, from its environment. */
export function environment(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set; this process is started by src/main.ts, which sets it.`);
}
