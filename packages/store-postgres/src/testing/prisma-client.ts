import { PrismaPg } from "@prisma/adapter-pg";

/** What is used of a Prisma client; the tests have no models. */
export interface RawPrismaClient {
  $transaction<Result>(work: (tx: RawPrismaTransaction) => Promise<Result>): Promise<Result>;
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown[]>;
  $disconnect(): Promise<void>;
}

export type RawPrismaTransaction = Pick<RawPrismaClient, "$queryRawUnsafe">;

/**
 * The real Prisma client on its `pg` adapter, for a schema without models: what `prisma generate`
 * writes is a call of this function with a schema. Its command would download engines.
 */
export async function createPrismaClient(connectionString: string): Promise<RawPrismaClient> {
  const { getPrismaClient } = await import("@prisma/client/runtime/client");
  const inlineSchema = `generator client {
  provider = "prisma-client"
  engineType = "client"
}
datasource db {
  provider = "postgresql"
}
`;
  const PrismaClient = getPrismaClient({
    previewFeatures: [],
    clientVersion: "7.10.0",
    engineVersion: "none",
    activeProvider: "postgresql",
    inlineSchema,
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: "AAAA" },
    compilerWasm: {
      getRuntime: async () =>
        await import("@prisma/client/runtime/query_compiler_fast_bg.postgresql.mjs" as string),
      getQueryCompilerWasmModule: async () => {
        const { wasm } = await import(
          "@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.mjs" as string
        );
        return new webAssembly.Module(Buffer.from(wasm, "base64"));
      },
      importName: "./query_compiler_fast_bg.js",
    },
  } as never);
  return new PrismaClient({
    adapter: new PrismaPg({ connectionString }),
  } as never) as unknown as RawPrismaClient;
}

/** Node has it; the types without those of browsers do not. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (bytes: Uint8Array) => unknown };
};
