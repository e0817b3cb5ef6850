/**
 * The part of a client of node-redis (`createClient` of `redis` 5 or 6) that is used. Structural, so that neither the version nor the
 * copy of the package matters.
 */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly options?: object;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  readonly isPubSubActive: boolean;
  withTypeMapping(mapping: object): unknown;
  on(event: string, listener: (error?: unknown) => void): unknown;
  off(event: string, listener: (error?: unknown) => void): unknown;
  destroy(): void;
}

/** Where a client connects to. */
interface Address {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
}

export function addressOf({ options }: NodeRedisClient): Address {
  const { socket } = (options ?? {}) as { readonly socket?: Address };
  return socket ?? {};
}

/**
 * Options of a connection of ours: replies are those of RESP2, whatever the client's own, and the connection does not come back by
 * itself, for node-redis would subscribe again, and no caller can catch the server's refusal of that.
 */
export function connectionOptions({ options }: Pick<NodeRedisClient, 'options'>): object {
  const { socket } = (options ?? {}) as { readonly socket?: object };
  return {
    socket: { ...socket, reconnectStrategy: () => 1, socketTimeout: undefined },
    RESP: undefined,
    commandOptions: undefined,
    commandsQueueMaxLength: undefined,
    disableOfflineQueue: false,
    readonly: false,
    pingInterval: undefined,
    clientSideCache: undefined,
    emitInvalidate: false,
    maintNotifications: 'disabled',
  };
}

export function destroyClient(client: NodeRedisClient): void {
  try {
    client.destroy();
  } catch {
    // node-redis refuses what is closed already
  }
}
