import { optionError } from '../../../core/options/option-error.js';
import { isClusterClient, nodeName } from '../../../redis-client/cluster-client.js';
import type { ClusterClient, ClusterNodeClient } from '../../../redis-client/cluster-client.js';
import { clientKeyPrefix } from '../../../redis-client/redis-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { LOOK } from '../lua/lease-scripts.js';

/** While a slot moves, its node may change once more during the call. */
const MOST_ROUNDS = 5;
const REDIRECTION = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|UNKNOWN)\b|^Connection is closed/;

/**
 * Uses the master of a slot on a known connection, as `WAIT` needs it: the client itself would send that to any master. Where
 * the master has changed, a harmless command makes the client find the new one.
 */
export class SlotMasters {
  readonly #client: ClusterClient;
  readonly #slotOf: (key: string) => number;
  readonly #keyPrefix: string;

  constructor(client: RedisClient, slotOf: (key: string) => number) {
    if (!isClusterClient(client)) {
      throw optionError('replicas on a Cluster need a client that has slots and nodes()');
    }
    this.#client = client;
    this.#slotOf = slotOf;
    const prefix = clientKeyPrefix(client);
    const prefixOfNodes = client.options?.redisOptions?.keyPrefix ?? '';
    if (prefixOfNodes !== '' && prefixOfNodes !== prefix) {
      throw optionError('replicas on a Cluster need one keyPrefix, got two that differ');
    }
    this.#keyPrefix = prefixOfNodes === '' ? prefix : '';
  }

  /** Calls `ask` with the connection to the master of `keys`, and with the keys as that connection needs them. */
  async run<T>(
    keys: readonly string[],
    ask: (master: RedisClient, keys: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const slot = this.#slotOf(keys[0]!);
    const named = this.#keyPrefix === '' ? keys : keys.map((key) => this.#keyPrefix + key);
    let target: string | undefined;
    for (let round = 1; ; round++) {
      try {
        return await ask(this.#masterOf(slot, target), named);
      } catch (error) {
        const message = error instanceof Error ? error.message : '';
        if (!REDIRECTION.test(message) || round === MOST_ROUNDS) throw error;
        target = message.startsWith('ASK ') ? message.split(' ')[2] : undefined;
      }
      await LOOK.run(this.#client, keys, [], () => undefined);
    }
  }

  /** `target` is the node that the slot is still moving to. */
  #masterOf(slot: number, target: string | undefined): RedisClient {
    const name = target ?? this.#client.slots[slot]?.[0];
    const node = this.#client.nodes('all').find((each) => nodeName(each) === name);
    if (!node) throw new Error(`UNKNOWN master of slot ${slot}`);
    return target === undefined ? node : admitted(node);
  }
}

/** Where the slot is still moving to this node. */
function admitted(node: ClusterNodeClient): RedisClient {
  const ask = () => void node.asking().catch(() => undefined); // the command behind it fails, too
  return {
    evalsha: (...args) => (ask(), node.evalsha(...args)),
    eval: (...args) => (ask(), node.eval(...args)),
    wait: (...args) => node.wait(...args),
    get stream() {
      return node.stream;
    },
  };
}
