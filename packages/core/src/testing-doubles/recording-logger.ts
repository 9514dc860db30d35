import type { OutboxLogger } from "../drain/outbox-logger.js";

/** Keeps the messages, as `level: message`. */
export class RecordingLogger implements OutboxLogger {
  readonly lines: string[] = [];

  debug(message: string): void {
    this.lines.push(`debug: ${message}`);
  }

  info(message: string): void {
    this.lines.push(`info: ${message}`);
  }

  warn(message: string): void {
    this.lines.push(`warn: ${message}`);
  }

  error(message: string): void {
    this.lines.push(`error: ${message}`);
  }
}
