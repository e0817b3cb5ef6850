import type { IncomingMessage, ServerResponse } from 'node:http';
import { isClosed } from '../../http/closed-response.js';
import { Refusal, sendRefusal } from '../server/answers.js';
import { Dashboard } from '../server/dashboard.js';
import { isRoute, pathOf, ROUTES } from '../server/visit.js';
import type { Route } from '../server/visit.js';
import { checkDashboard } from './dashboard-options.js';
import type { DashboardVisitor, LockDashboardOptions } from './dashboard-options.js';

/** The live page, as a handler for Express 4 and 5, and for `http.createServer`. */
export interface LockDashboardHandler {
  /** `next` gets what `authorize` throws. Without it, the answer is 500. */
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
  /** Ends the streams of all browsers, so that the server can close. Later requests get 503. */
  close(): void;
}

interface RoutedRequest extends IncomingMessage {
  /** Of Express: with the path that its routers took off. */
  readonly originalUrl?: string;
  readonly body?: unknown;
}

/**
 * The live page of locks, for Express 4 and 5 and plain `http`. Throws `TypeError` for unusable options.
 *
 * ```ts
 * app.use('/locks', lockDashboard({ locks, authorize: (req) => req.user?.isAdmin && { actor: req.user.name } }));
 * ```
 */
export function lockDashboard<Request = any>(
  options: LockDashboardOptions<Request>,
): LockDashboardHandler {
  checkDashboard(options);
  const { locks, authorize, actions = [], path = '/' } = options;
  const dashboard = new Dashboard(locks, [...actions]);
  const prefix = `/${path.replaceAll(/^\/+|\/+$/g, '')}`.replace(/\/$/, '');

  const handler = async (request: RoutedRequest, response: ServerResponse): Promise<void> => {
    const visitor = authorize === 'public' || (await authorize(request));
    if (isClosed(response)) return;
    if (!isVisitor(visitor)) return sendRefusal(response, FORBIDDEN);
    const { originalUrl, url = '/', body } = request;
    const route = routeOf(request.method, pathOf(url), prefix);
    if (route instanceof Refusal) return sendRefusal(response, route);
    const actor = visitor === true ? undefined : visitor.actor;
    await dashboard.answer({ request, response, route, url: originalUrl ?? url, actor, body });
  };
  const handle: (...args: Parameters<LockDashboardHandler>) => void = (request, response, next) => {
    const fail = next ?? (() => sendRefusal(response, FAILED));
    handler(request, response).catch(fail);
  };
  return Object.assign(handle, { close: () => dashboard.close() });
}

const FORBIDDEN = new Refusal(403, 'LOCK_DASHBOARD_FORBIDDEN', 'You may not see the locks');
const FAILED = new Refusal(500, 'LOCK_DASHBOARD_FAILED', 'It could not be checked who asks');
const NOT_FOUND = new Refusal(404, 'LOCK_DASHBOARD_NOT_FOUND', 'The page has no such address');

function isVisitor(answer: unknown): answer is DashboardVisitor {
  if (answer === true) return true;
  const { actor } = (answer ?? {}) as { readonly actor?: unknown };
  return typeof actor === 'string' && actor !== '';
}

function routeOf(method = 'GET', path: string, prefix: string): Route | Refusal {
  const isBelow = path === prefix || path.startsWith(`${prefix}/`);
  const route = isBelow ? path.slice(prefix.length + 1) : undefined;
  if (route === undefined || !isRoute(route)) return NOT_FOUND;
  const allowed = ROUTES[route] === 'GET' ? ['GET', 'HEAD'] : ['POST'];
  if (allowed.includes(method)) return route;
  const methods = allowed.join(', ');
  return new Refusal(405, 'LOCK_DASHBOARD_METHOD', `This address takes ${methods}`, methods);
}
