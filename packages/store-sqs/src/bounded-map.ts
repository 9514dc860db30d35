/** A map that forgets its oldest members beyond a bound: memory of a process that runs for months. */
export class BoundedMap<Key, Value> {
  readonly #most: number;
  readonly #map = new Map<Key, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  /** Sets it, as the youngest. */
  set(key: Key, value: Value): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size <= this.#most) return;
    for (const oldest of this.#map.keys()) {
      this.#map.delete(oldest);
      return;
    }
  }

  delete(key: Key): void {
    this.#map.delete(key);
  }
}
