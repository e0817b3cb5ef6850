/** The connection is inside a transaction of the application, which could roll back a lock that is taken in it. */
export class OpenTransactionError extends Error {
  /** A file of SQLite may be asked again: nothing was written. */
  readonly code: string | undefined;

  constructor(code?: string) {
    super(
      'a transaction is open on the connection of the locks; give them a connection of their own, or a pool',
    );
    this.name = 'OpenTransactionError';
    this.code = code;
  }
}

/** A `pg.Client`: one connection, which says at the end of each statement whether a transaction is open. */
interface PostgresConnection {
  /** `pg` 8.20 and newer. */
  getTransactionStatus?(): string | null;
  readonly connection?: { on?(event: string, listener: (message: Ready) => void): unknown };
}

interface Ready {
  readonly status?: string;
}

/** Whether a transaction was open when the client answered last. A pool cannot say so. */
export function transactionsOf(client: unknown): () => boolean {
  const single = client as PostgresConnection;
  if (typeof single.getTransactionStatus === 'function')
    return () => single.getTransactionStatus!() === 'T';
  let status: string | undefined;
  if (typeof single.connection?.on === 'function')
    single.connection.on('readyForQuery', (message) => (status = message.status));
  return () => status === 'T';
}
