import type { ServerLink, ServerVitals } from '../../core/lock-store.js';
import type { RedisClient } from './redis-client.js';

/** A client of one server, master or Sentinel, whose connection can be watched. */
export interface WatchableClient extends RedisClient {
  info(section: string): Promise<string>;
  time(): Promise<readonly (number | string)[]>;
  on(event: string, listener: () => void): unknown;
  readonly status: string;
}

export function canWatch(client: RedisClient): client is WatchableClient {
  const { info, time, on, isCluster } = client as Partial<WatchableClient>;
  return !isCluster && [info, time, on].every((method) => typeof method === 'function');
}

/** The connection of a client: when it is lost, when there is a new one, and what the server at its end says of itself. */
export class RedisServerLink implements ServerLink {
  readonly #client: WatchableClient;
  #losses = 0;

  constructor(client: WatchableClient) {
    this.#client = client;
    client.on('close', () => void this.#losses++);
  }

  get losses(): number {
    return this.#losses;
  }

  onReady(listener: () => void): void {
    this.#client.on('ready', listener);
    if (this.#client.status === 'ready') listener();
  }

  async vitals(): Promise<ServerVitals> {
    const [info, [seconds, micros]] = await Promise.all([
      this.#client.info('server'),
      this.#client.time(),
    ]);
    return {
      runId: field(info, 'run_id'),
      upFor: Number(field(info, 'uptime_in_seconds')) * 1_000,
      time: Number(seconds) * 1_000 + Number(micros) / 1_000,
    };
  }
}

function field(info: string, name: string): string {
  const found = new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info);
  if (found) return found[1]!;
  throw new Error(`INFO server has no ${name}`);
}
