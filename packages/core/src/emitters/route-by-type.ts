import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { Emit, Emitter } from "../contract/emitter.js";
import type { EventMap } from "../contract/enqueue-input.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { describeValue, requireObject } from "../validation/argument-checks.js";
import { requireTypePattern } from "../validation/type-patterns.js";
import { noRoute } from "./no-route.js";

/** `order.placed` gives `order.*`; `order.line.added` gives `order.*` and `order.line.*`. */
type PrefixOf<Type extends string> = Type extends `${infer Head}.${infer Rest}`
  ? `${Head}.*` | `${Head}.${PrefixOf<Rest>}`
  : never;

/** The patterns that can match a type of the event map. */
export type RoutePattern<Events extends EventMap> = string extends keyof Events
  ? string
  : (keyof Events & string) | PrefixOf<keyof Events & string> | "*";

/** The envelopes that a pattern lets through, with their payload types. */
export type RoutedEnvelope<Events extends EventMap, Pattern> = string extends keyof Events
  ? EmissionEnvelope
  : {
      [Type in keyof Events & string]: Type extends MatchOf<Pattern>
        ? EmissionEnvelope<Type, Events[Type]>
        : never;
    }[keyof Events & string];

type MatchOf<Pattern> = Pattern extends "*"
  ? string
  : Pattern extends `${infer Prefix}.*`
    ? `${Prefix}.${string}`
    : Pattern;

/**
 * An emitter per pattern: exact (`order.placed`), prefix (`order.*`) or everything else (`*`). A
 * plain function receives the envelopes of its pattern typed, where the application declares its
 * events.
 */
export type Routes<Events extends EventMap = EventMap> = {
  readonly [Pattern in RoutePattern<Events>]?: Emit<RoutedEnvelope<Events, Pattern>> | Emitter;
};

/** The route, for circuits and limits, of what has none. */
const noRouteName = "(none)";

/**
 * An emitter that chooses by event type. The longest match wins: an exact type before a prefix, a
 * longer prefix before a shorter one, `*` last.
 *
 * `types` of the result are the patterns, so that a worker claims only what it can emit; with `*`
 * among them it is absent. A type without a route is deferred for a minute, uncounted, since during
 * a rolling deploy another version may have one (error code `outbox.no_route`).
 *
 * @throws InvalidArgumentError naming the pattern that is malformed or has no emitter
 */
export function routeByType<Events extends EventMap = EventMap>(routes: Routes<Events>): Emitter {
  const emitters = resolveRoutes(routes);
  const patterns = [...emitters.keys()];
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith("*"))
    .map((pattern) => pattern.slice(0, -1))
    .sort((left, right) => right.length - left.length);

  const emitterFor = (type: string): Emit | undefined => {
    const exact = emitters.get(type);
    if (exact !== undefined) return exact;
    const prefix = prefixes.find((one) => type.startsWith(one));
    return prefix === undefined ? undefined : emitters.get(`${prefix}*`);
  };

  const emit: Emit = (envelope, context) => {
    const emitRoute = emitterFor(envelope.type);
    return emitRoute
      ? emitRoute(envelope, context)
      : noRoute("event type", envelope.type, patterns);
  };
  const routeOf = ({ envelope }: OutboxEntry): string => {
    if (emitters.has(envelope.type)) return envelope.type;
    const prefix = prefixes.find((one) => envelope.type.startsWith(one));
    return prefix === undefined ? noRouteName : `${prefix}*`;
  };
  const emitter = { emit, routeOf, routes: patterns };
  return emitters.has("*") ? emitter : { ...emitter, types: patterns };
}

function resolveRoutes(routes: object): ReadonlyMap<string, Emit> {
  const emitters = new Map<string, Emit>();
  for (const [pattern, route] of Object.entries(requireObject("routes", routes))) {
    requireTypePattern(`the pattern ${JSON.stringify(pattern)} in routes`, pattern);
    emitters.set(pattern, resolveRoute(`routes[${JSON.stringify(pattern)}]`, route));
  }
  if (emitters.size === 0) {
    throw new InvalidArgumentError(
      "routes",
      'must not be empty; name an event type ("order.placed"), a prefix ("order.*") or "*"',
    );
  }
  return emitters;
}

function resolveRoute(argument: string, route: unknown): Emit {
  if (typeof route === "function") return route as Emit;
  if (typeof route === "object" && route !== null && "emit" in route) {
    const emitter = route as Emitter;
    if (typeof emitter.emit === "function") {
      return (envelope, context) => emitter.emit(envelope, context);
    }
  }
  throw new InvalidArgumentError(
    argument,
    `must be an emitter (a function, or an object with an emit function), not ${describeValue(route)}; leave the pattern out if nothing emits it`,
  );
}
