/** The part of a logger that is needed: console, pino and winston fit. */
export interface OutboxLogger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export const silentLogger: OutboxLogger = { debug() {}, info() {}, warn() {}, error() {} };
