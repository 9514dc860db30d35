import type { StoreDriver } from "@outbox/core";

/**
 * Replaces a driver by one that behaves differently and has the same facets. The kit breaks stores
 * this way, to show that its cases notice.
 */
export type WrapDriver = <Driver extends StoreDriver<never>>(driver: Driver) => Driver;
