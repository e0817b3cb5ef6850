import type { StoreWarning } from '../../../core/contract/store-notices.js';
import { clientKeyPrefix } from '../../../redis-client/redis-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import type { WatchableClient } from '../failover/server-link.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { readDenied } from './acl-check.js';
import { findingsOf } from './findings.js';
import type { Reliance } from './findings.js';
import { MasterConnections } from './master-connections.js';
import { readFacts, readRunId } from './server-facts.js';

type Tell = (warning: StoreWarning) => void;

/** By the process: several clients and stores may use one server. */
const told = new Set<string>();

/**
 * Looks, at each new connection to a master, for settings of its server that lose locks in practice, and warns once for each
 * server. Sends a few commands beside those of the locks, and waits for none of them.
 */
export class ServerChecks {
  readonly #client: RedisClient;
  readonly #keys: ServerKeys;
  readonly #reliance: () => Reliance;
  readonly #tell: Tell;
  readonly #connections: MasterConnections;
  /** The servers that were checked, by connection. */
  readonly #checked = new WeakMap<object, string>();

  constructor(client: RedisClient, keys: ServerKeys, reliance: () => Reliance, tell: Tell) {
    this.#client = client;
    this.#keys = keys;
    this.#reliance = reliance;
    this.#tell = tell;
    this.#connections = new MasterConnections(client, (each, at) => void this.#check(each, at));
  }

  close(): void {
    this.#connections.close();
  }

  /** Never rejects. */
  async #check(connection: WatchableClient, address: string): Promise<void> {
    const server = (await readRunId(connection)) ?? address;
    if (this.#checked.get(connection) === server) return;
    this.#checked.set(connection, server);
    const reliance = this.#reliance();
    const clientPrefix = clientKeyPrefix(this.#client);
    const limits = { clientPrefix, replicas: reliance.replicas };
    const [facts, denied] = await Promise.all([
      readFacts(connection),
      readDenied(connection, this.#keys, limits),
    ]);
    if (connection.status !== 'ready') this.#checked.delete(connection); // it is asked again
    for (const warning of findingsOf(`Redis (${address})`, facts, denied, reliance))
      this.#once(server, warning);
  }

  /** Missing rights depend on the user and the prefix. */
  #once(server: string, warning: StoreWarning): void {
    const which = warning.code.endsWith('ACL') ? warning.message : warning.code;
    const id = `${server} ${which}`;
    if (told.has(id)) return;
    told.add(id);
    this.#tell(warning);
  }
}
