import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that may be answered: a guard has let it in. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  /** Path and query as the server got them, in front of anything that a router took off. */
  readonly url: string;
  /** The actor, for the audit. */
  readonly actor: string | undefined;
  /** The body, where the application has parsed it. */
  readonly body: unknown;
}

export type Route = keyof typeof ROUTES;

/** By their path below that of the page. No wildcards: routers differ in them. */
export const ROUTES = {
  '': 'GET',
  'page.js': 'GET',
  'page.css': 'GET',
  'api/events': 'GET',
  'api/snapshot': 'GET',
  'api/release': 'POST',
} as const;

export function isRoute(path: string): path is Route {
  return Object.hasOwn(ROUTES, path);
}

/** The part of a URL in front of its query. */
export function pathOf(url: string): string {
  return /^[^?#]*/.exec(url)![0];
}
