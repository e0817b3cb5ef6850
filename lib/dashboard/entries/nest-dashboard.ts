import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LockService } from '../../core/lock.service.js';
import type { LockAction } from '../api.js';
import { Dashboard } from '../server/dashboard.js';
import type { LockDashboardModuleOptions } from './dashboard-options.js';
import type { Route } from '../server/visit.js';

/** Injection token of the `NestDashboard` of a module. */
export const NEST_DASHBOARD = Symbol('LockDashboard');

/** A request of Express, or of Fastify, where `raw` is that of Node. */
interface NestRequest extends IncomingMessage {
  readonly raw?: IncomingMessage;
  readonly originalUrl?: string;
  readonly body?: unknown;
}

type ActorOf = NonNullable<LockDashboardModuleOptions['actor']>;

interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/** From the requests of Nest to the page. */
export class NestDashboard {
  readonly #dashboard: Dashboard;
  readonly #actor: ActorOf | undefined;

  constructor(locks: LockService, actions: readonly LockAction[], actor: ActorOf | undefined) {
    this.#dashboard = new Dashboard(locks, actions);
    this.#actor = actor;
  }

  /** Nest waits for open requests next, and a stream never ends by itself. */
  beforeApplicationShutdown(): void {
    this.#dashboard.close();
  }

  async open(route: Route, request: NestRequest, reply: ServerResponse | FastifyReply) {
    const { originalUrl, body, raw = request } = request;
    const url = originalUrl ?? raw.url ?? '/';
    const actor = route === 'api/release' ? await this.#actor?.(request) : undefined;
    const response = 'hijack' in reply ? takenOver(reply) : reply;
    await this.#dashboard.answer({ request: raw, response, route, url, actor, body });
  }
}

/** Fastify sends nothing itself any more. The headers that its plugins have set go along. */
function takenOver(reply: FastifyReply): ServerResponse {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
  return reply.raw;
}
