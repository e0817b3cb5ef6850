/** A store's connection to one server. It may end, and lead to another server or to a restarted one afterwards. */
export interface ServerLink {
  /** `host:port`, for messages. */
  readonly address: string;
  /** A command would leave at once. */
  readonly isReady: boolean;
  /** Number of lost connections. An answer comes from the same server only if the count is unchanged. */
  readonly losses: number;
  /** Calls `listener` each time a connection is ready for use. */
  onReady(listener: () => void): void;
  /** Calls `listener` each time a connection is lost. */
  onLost(listener: () => void): void;
  /** The server's present statement about itself. */
  vitals(): Promise<ServerVitals>;
}

export interface ServerVitals {
  /** New for every start of a server. */
  readonly runId: string;
  /** Milliseconds since its start, at least. */
  readonly upFor: number;
  /** Its own clock, in milliseconds since 1970. */
  readonly time: number;
}
