/** The part of `node-zookeeper-client` that this store uses. */
export interface ZooKeeperDriver {
  createClient(
    servers: string,
    options: { sessionTimeout: number; spinDelay: number; retries: number },
  ): ZooKeeperClient;
  readonly ACL: new (permissions: number, id: object) => object;
  readonly Id: new (scheme: string, id: string) => object;
}

export interface ZooKeeperClient {
  /** Part of the client, but not of its documentation: `client-repairs.ts` needs it. */
  readonly connectionManager: ConnectionManager;
  connect(): void;
  close(): void;
  on(event: 'connected' | 'disconnected' | 'expired' | 'authenticationFailed', listener: () => void): unknown; // prettier-ignore
  addAuthInfo(scheme: string, credential: Buffer): void;
  /** Milliseconds, as negotiated with the server. */
  getSessionTimeout(): number;
  /** 8 bytes. */
  getSessionId(): Buffer;
  create(path: string, data: Buffer, acls: object[], mode: number, done: Done<string>): void;
  remove(path: string, done: Done<void>): void;
  getChildren(
    path: string,
    done: (error: ClientError | null, names: string[], stat: Stat) => void,
  ): void;
  getChildren(path: string, watcher: () => void, done: Done<string[]>): void;
  getData(path: string, done: (error: ClientError | null, data: Buffer, stat: Stat) => void): void;
  getData(
    path: string,
    watcher: () => void,
    done: (error: ClientError | null, data: Buffer, stat: Stat) => void,
  ): void;
  transaction(): Transaction;
}

export type Done<T> = (error: ClientError | null, value: T) => void;

export interface Transaction {
  create(path: string, data: Buffer, acls: object[], mode: number): Transaction;
  setData(path: string, data: Buffer, version: number): Transaction;
  remove(path: string, version: number): Transaction;
  check(path: string, version: number): Transaction;
  commit(done: Done<readonly TransactionResult[]>): void;
}

/** The outcome of one operation. */
export interface TransactionResult {
  /** For a node that was created. */
  readonly path?: string | undefined;
  /** For a node that was written to. */
  readonly stat?: unknown;
}

export interface Stat {
  /** 8 bytes: the transaction that created the node. */
  readonly czxid: Buffer;
  /** 8 bytes: the transaction that wrote to the node last. */
  readonly mzxid: Buffer;
  /** 8 bytes: the transaction that made or removed a node below it last. */
  readonly pzxid: Buffer;
  /** 8 bytes: when it was created, in milliseconds since 1970 by the clock of the leader. */
  readonly ctime: Buffer;
  /** 8 bytes: the session of an ephemeral node. */
  readonly ephemeralOwner: Buffer;
  /** How often it was written to since it was created. */
  readonly version: number;
  /** How often a node was made or removed below it. Wraps from 2^31 - 1. */
  readonly cversion: number;
  readonly numChildren: number;
}

export interface ClientError extends Error {
  readonly code: number;
  readonly name: string;
}

export interface ConnectionManager {
  state: number;
  socket?: { destroy(): void } | undefined;
  connectTimeoutHandler: NodeJS.Timeout | null;
  pendingBuffer: Buffer | null;
  /** Milliseconds: as asked for, then as negotiated. */
  sessionTimeout: number;
  packetQueue: { queue: unknown[] };
  on(event: 'state', listener: (state: number) => void): unknown;
  connect(): void;
  onSocketConnected(): void;
  onSocketError(error: unknown): void;
  onSocketData(bytes: Buffer): void;
  queue(request: OutgoingRequest, done?: unknown): void;
}

export interface OutgoingRequest {
  readonly payload?: { readonly flags?: number } | null;
  toBuffer(): Buffer;
}

/** How a node is created. */
export const CreateMode = {
  persistent: 0,
  ephemeral: 1,
  ephemeralSequential: 3,
  container: 4,
} as const;

/** The answers of the server that matter here. */
export const Code = {
  connectionLoss: -4,
  unimplemented: -6,
  noNode: -101,
  noAuth: -102,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
} as const;

/** Loads the client when it is first needed. */
export async function loadDriver(): Promise<ZooKeeperDriver> {
  try {
    const module = await import('node-zookeeper-client');
    return (module.default ?? module) as unknown as ZooKeeperDriver;
  } catch (cause) {
    throw new Error(
      'ZooKeeperLockStore needs the package node-zookeeper-client: npm install node-zookeeper-client',
      { cause },
    );
  }
}
