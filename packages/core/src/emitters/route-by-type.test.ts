import { describe, expect, expectTypeOf, it } from "vitest";
import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { Emitter, EmitterLike } from "../contract/emitter.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { createNoopEmitter } from "./create-noop-emitter.js";
import { type Routes, routeByType } from "./route-by-type.js";
import { testContext, testEnvelope } from "./test-emission.js";

const named = (name: string) => () => ({ status: "delivered", providerMessageId: name }) as const;

async function routeTaken(router: Emitter, type: string): Promise<unknown> {
  return await router.emit(testEnvelope({ type }), testContext());
}

describe("routeByType", () => {
  const router = routeByType({
    "*": named("everything"),
    "order.*": named("order.*"),
    "order.line.*": named("order.line.*"),
    "order.line.added": named("order.line.added"),
  });

  it.each([
    ["order.line.added", "order.line.added"],
    ["order.line.removed", "order.line.*"],
    ["order.line.added.twice", "order.line.*"],
    ["order.placed", "order.*"],
    ["order.lines", "order.*"],
    ["order", "everything"],
    ["orders.placed", "everything"],
    ["constructor", "everything"],
  ])("sends %s to the longest match, %s", async (type, route) => {
    expect(await routeTaken(router, type)).toEqual({
      status: "delivered",
      providerMessageId: route,
    });
  });

  it("takes the longest prefix in whatever order the routes are written", async () => {
    const reversed = routeByType({ "a.b.*": named("long"), "a.*": named("short") });
    expect(await routeTaken(reversed, "a.b.c")).toMatchObject({ providerMessageId: "long" });
  });

  it("lists its patterns, so that a worker claims only those", () => {
    expect(routeByType({ "order.*": named("a"), "user.left": named("b") }).types).toEqual([
      "order.*",
      "user.left",
    ]);
  });

  it("lists nothing when it handles everything", () => {
    expect(router.types).toBeUndefined();
    expect("types" in router).toBe(false);
  });

  it("defers what it has no route for, instead of dead-lettering it (rolling deploy)", async () => {
    const result = await routeTaken(routeByType({ "order.*": named("a") }), "invoice.sent");
    expect(result).toEqual({
      status: "deferred",
      retryAfterMs: 60_000,
      error: {
        code: "outbox.no_route",
        message: expect.stringContaining('"invoice.sent" (there are: order.*)'),
        isRetryable: true,
      },
    });
  });

  it("calls an emitter object as its method, and keeps an empty result as it is", async () => {
    class Counting implements Emitter {
      count = 0;
      emit(): undefined {
        this.count += 1;
      }
    }
    const counting = new Counting();
    expect(await routeTaken(routeByType({ "a.b": counting }), "a.b")).toBeUndefined();
    expect(counting.count).toBe(1);
  });

  it("does not see routes that are added to the object later", async () => {
    const routes: Record<string, EmitterLike> = { "a.b": named("a") };
    const fixed = routeByType(routes);
    routes["c.d"] = named("c");
    expect(await routeTaken(fixed, "c.d")).toMatchObject({ status: "deferred" });
  });

  it.each<[string, unknown, string]>([
    ["no routes", {}, "routes"],
    ["no object", null, "routes"],
    ["an empty pattern", { "": named("a") }, 'the pattern "" in routes'],
    ["a star in the middle", { "order.*.placed": named("a") }, 'the pattern "order.*.placed"'],
    ["a star after half a word", { "ord*": named("a") }, 'the pattern "ord*"'],
    ["two stars", { "**": named("a") }, 'the pattern "**"'],
    ["a route that is undefined", { "order.*": undefined }, 'routes["order.*"]'],
    ["a route that is no emitter", { "order.*": { send: () => {} } }, 'routes["order.*"]'],
    ["an emit that is no function", { "order.*": { emit: true } }, 'routes["order.*"]'],
  ])("refuses %s, naming it", (_, routes, argument) => {
    const create = () => routeByType(routes as Routes);
    expect(create).toThrow(InvalidArgumentError);
    expect(create).toThrow(argument);
  });
});

describe("types of routeByType", () => {
  type OrderPlaced = { orderId: string };
  type Events = {
    "order.placed": OrderPlaced;
    "order.cancelled": { reason: string };
    "user.left": { userId: number };
  };

  it("gives each route the envelopes of its pattern", () => {
    routeByType<Events>({
      "order.placed": (envelope) => {
        expectTypeOf(envelope).toEqualTypeOf<EmissionEnvelope<"order.placed", OrderPlaced>>();
      },
      "order.*": (envelope) => {
        expectTypeOf(envelope.type).toEqualTypeOf<"order.placed" | "order.cancelled">();
        if (envelope.type === "order.cancelled") {
          expectTypeOf(envelope.payload.reason).toEqualTypeOf<string>();
        }
      },
      "user.*": createNoopEmitter(),
      "*": (envelope) => {
        expectTypeOf(envelope.type).toEqualTypeOf<keyof Events>();
      },
    });
  });

  it("refuses patterns that match no event of the map", () => {
    // @ts-expect-error misspelt
    routeByType<Events>({ "order.plcaed": createNoopEmitter() });
    // @ts-expect-error no event begins so
    routeByType<Events>({ "invoice.*": createNoopEmitter() });
  });

  it("takes any pattern where no map is declared", () => {
    routeByType({
      "anything.at.all": (envelope) => {
        expectTypeOf(envelope).toEqualTypeOf<EmissionEnvelope>();
      },
      "anything.*": createNoopEmitter(),
    });
  });
});
