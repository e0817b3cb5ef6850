import type { NodeRedisClient } from './node-redis-client.js';

/** The part of a Cluster client of node-redis (`createCluster` of `redis` 5 or 6) that is used. */
export interface NodeRedisCluster {
  readonly isOpen: boolean;
  readonly _options: object;
  readonly masters: readonly { readonly client?: object | undefined }[];
  duplicate(overrides?: never): unknown;
  nodeClient(node: never): unknown;
  connect(): Promise<unknown>;
  on(event: string, listener: (event?: never) => void): unknown;
  off(event: string, listener: (event?: never) => void): unknown;
  destroy(): unknown;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

interface NodeOptions {
  readonly socket?: object;
}

/** Those of `createCluster` that count here. */
interface ClusterOptions {
  readonly rootNodes: readonly NodeOptions[];
  readonly defaults?: NodeOptions;
  readonly nodeAddressMap?:
    Readonly<Record<string, Address>> | ((name: string) => Address | undefined);
  readonly maxCommandRedirections?: number;
}

/** Of node-redis, and of ioredis. */
const MOST_REDIRECTIONS = 16;

function optionsOf({ _options: options }: NodeRedisCluster): ClusterOptions {
  return options as ClusterOptions;
}

export function mostRedirections(given: NodeRedisCluster): number {
  return optionsOf(given).maxCommandRedirections ?? MOST_REDIRECTIONS;
}

/** `host:port`, as the nodes call one of them. The host of an IPv6 address has colons. */
export function addressOfNode(name: string): Address {
  const end = name.lastIndexOf(':');
  return { host: name.slice(0, end), port: Number(name.slice(end + 1)) };
}

/** As node-redis does, without the options of the root nodes. */
export function nodeOptions(given: NodeRedisCluster, name: string): object {
  const { defaults, nodeAddressMap: map } = optionsOf(given);
  const mapped = typeof map === 'function' ? map(name) : map?.[name];
  return { ...defaults, socket: { ...defaults?.socket, ...(mapped ?? addressOfNode(name)) } };
}

/** Of the nodes that tell of the others. */
export function rootOptions(given: NodeRedisCluster): readonly object[] {
  const { defaults, rootNodes } = optionsOf(given);
  return rootNodes.map((root) => ({
    ...defaults,
    ...root,
    socket: { ...defaults?.socket, ...root.socket },
  }));
}

/** No server has it: what should connect to it fails at once, without a connection. */
const NO_PORT = -1;

/**
 * A client without a connection, of the class that a Cluster client has for its nodes. It is made by a duplicate, which is used for
 * nothing else, for the options of the application's own node.
 */
export function unconnectedClient(given: NodeRedisCluster): NodeRedisClient {
  const maker = (given as unknown as Duplicable).duplicate({
    rootNodes: [],
    defaults: { socket: { reconnectStrategy: false }, maintNotifications: 'disabled' },
    nodeAddressMap: undefined,
    clientSideCache: undefined,
    RESP: undefined,
  });
  const node: MadeNode = { address: '', host: 'localhost', port: NO_PORT, readonly: false };
  maker.nodeClient(node).catch(() => undefined);
  return node.client!;
}

interface Duplicable {
  duplicate(overrides: object): ClientMaker;
}

interface ClientMaker {
  nodeClient(node: MadeNode): Promise<unknown>;
}

interface MadeNode extends Address {
  readonly address: string;
  readonly readonly: boolean;
  client?: NodeRedisClient;
}
