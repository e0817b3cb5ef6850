import type { ServerKind } from '../processes/servers-of-worker.js';

/** The server that the specs of this Jest worker share, empty; see `environment.cjs`. */
export function sharedServer<Server>(kind: ServerKind): Promise<Server> {
  const { serversOfWorker } = globalThis as unknown as {
    readonly serversOfWorker: (kind: ServerKind) => Promise<Server>;
  };
  return serversOfWorker(kind);
}
