import type { SQSClient } from "@aws-sdk/client-sqs";

/** Makes a client's calls fail as if SQS could not be reached. */
export class Disconnection {
  #isActive = false;

  applyTo(client: SQSClient): void {
    client.middlewareStack.add(
      (next) => async (args) => {
        if (!this.#isActive) return next(args);
        throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      },
      { step: "build", name: "disconnection" },
    );
  }

  begin(): void {
    this.#isActive = true;
  }

  end(): void {
    this.#isActive = false;
  }
}
