/** Why an emission did not succeed. Texts are sanitised and bounded before they are stored. */
export interface EmissionError {
  /** Stable and machine-readable, e.g. `http.503`. */
  readonly code: string;
  readonly message: string;
  readonly isRetryable: boolean;
}

/**
 * What an emission came to. Returning nothing means delivered; throwing means a retryable failure.
 *
 * - `delivered`: the provider has it
 * - `deferred`: not now, and it is nobody's failure; due again after `retryAfterMs`
 * - `retryable-failure`: counted as a failure, due again after `retryAfterMs` or the drain's backoff
 * - `failed`: parked until an operator redrives it
 * - `dead-lettered`: terminal
 * - `pending`: not emitted at all; the claim is released with a short delay
 */
export type EmissionResult =
  | { readonly status: "delivered"; readonly providerMessageId?: string | undefined }
  | {
      readonly status: "deferred";
      readonly retryAfterMs?: number | undefined;
      readonly error?: EmissionError | undefined;
    }
  | {
      readonly status: "retryable-failure";
      readonly error: EmissionError;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly status: "failed"; readonly error: EmissionError }
  | {
      readonly status: "dead-lettered";
      readonly error: EmissionError;
      readonly reason?: string | undefined;
    }
  | { readonly status: "pending" };
