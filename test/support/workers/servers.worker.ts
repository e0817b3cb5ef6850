import type { RedisServer } from '../servers/redis-server.js';
import { serverOfWorker } from '../processes/servers-of-worker.js';
import { openChannel } from '../processes/worker-channel.js';

/** Starts a server as a Jest worker does, and tells its port. */
const channel = openChannel<number>();
void serverOfWorker('redis').then((server) =>
  channel.send((server as unknown as RedisServer).port),
);
