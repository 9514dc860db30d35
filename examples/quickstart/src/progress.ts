import { clearScreenDown, cursorTo, moveCursor } from "node:readline";
import { stripVTControlCharacters } from "node:util";

export interface ProgressOptions {
  /** `process.stdout`, or anything like it. */
  readonly output: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
  };
  /** Where nothing can be redrawn, a line is printed at most this often, in ms. */
  readonly lineIntervalMs: number;
}

/** What is shown while the demo runs: on a terminal one region, redrawn; elsewhere now and then a line. */
export class Progress {
  readonly #options: ProgressOptions;
  #region: readonly string[] = [];
  #lastLineAt = Number.NEGATIVE_INFINITY;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** Shows the present state: `lines` on a terminal, `summary` elsewhere. */
  update(lines: readonly string[], summary: string): void {
    const { output, lineIntervalMs } = this.#options;
    if (output.isTTY) {
      this.#erase();
      this.#draw(lines);
    } else if (performance.now() - this.#lastLineAt >= lineIntervalMs) {
      this.#lastLineAt = performance.now();
      output.write(`${summary}\n`);
    }
  }

  /** Prints a line that stays, above the region. */
  log(line: string): void {
    const region = this.#region;
    this.#erase();
    this.#options.output.write(`${line}\n`);
    this.#draw(region);
  }

  /** Takes the region away. */
  clear(): void {
    this.#erase();
  }

  #erase(): void {
    if (this.#region.length === 0) return;
    cursorTo(this.#options.output, 0);
    moveCursor(this.#options.output, 0, -this.#region.length);
    clearScreenDown(this.#options.output);
    this.#region = [];
  }

  #draw(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const { output } = this.#options;
    // A wrapped line would take two rows, and the next redraw would miss one.
    const width = (output.columns ?? 80) - 1;
    output.write(lines.map((line) => `${fit(line, width)}\n`).join(""));
    this.#region = lines;
  }
}

/** A line that is too long loses its colours with its end. */
function fit(line: string, width: number): string {
  const plain = stripVTControlCharacters(line);
  return plain.length <= width ? line : `${plain.slice(0, width - 1)}…`;
}
