import type { RedisServer } from '../redis-server.js';
import { serverOfWorker } from '../servers-of-worker.js';
import { openChannel } from '../worker-channel.js';

/** Starts a server as a Jest worker does, and tells its port. */
const channel = openChannel<number>();
void serverOfWorker('redis').then((server) =>
  channel.send((server as unknown as RedisServer).port),
);
