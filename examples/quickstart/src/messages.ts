/** What the processes of the demo tell the main one. */
export type Message =
  | { readonly kind: "listening"; readonly url: string }
  | { readonly kind: "order"; readonly orderId: string; readonly committed: boolean }
  | { readonly kind: "fault"; readonly fault: WorkerFault };

/** Something in a worker after which the receiver may see an event twice. */
export interface WorkerFault {
  /** No answer, or none in time; or the lease ended before the result was written. */
  readonly type: "timeout" | "lease-lost";
  readonly envelopeId: string;
}

export function tellMain(message: Message): void {
  process.send?.(message);
}
