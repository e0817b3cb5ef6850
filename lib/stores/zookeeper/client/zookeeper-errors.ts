import type { ClientError } from './zookeeper-client.js';

/** The connection ended before the answer came: it is unknown whether the server has carried out the request. */
export class ConnectionLossError extends Error {
  constructor() {
    super('the connection to ZooKeeper was lost');
    this.name = 'ConnectionLossError';
  }
}

/** The session is over, and with it every node it made. */
export class SessionEndedError extends Error {
  constructor(why: string) {
    super(`the ZooKeeper session has ended: ${why}`);
    this.name = 'SessionEndedError';
  }
}

/** The server refused. */
export class ZooKeeperError extends Error {
  /** A code of ZooKeeper: -102 for a missing permission, for example. */
  readonly code: number;

  constructor({ code, name }: ClientError, path: string, options?: ErrorOptions) {
    super(`ZooKeeper refused with ${name} (${code}) at ${path}`, options);
    this.name = 'ZooKeeperError';
    this.code = code;
  }
}

export function isRefusal(error: unknown, code: number): boolean {
  return error instanceof ZooKeeperError && error.code === code;
}
