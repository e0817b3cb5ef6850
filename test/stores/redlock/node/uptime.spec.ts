import { RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { OwnClient } from '../../redis/locks.js';

/** Starts a server late in a second of the time of day, and reads it early in the next one. */
describe('The age of a Redis server', () => {
  it('is never said to be more than it is: servers count in whole seconds of the time of day', async () => {
    await until(() => millisecond() > 700);
    const startedAt = performance.now();
    await using server = await RedisServer.start();
    await using client = new OwnClient(server.url);
    const { server: link } = new RedisLockStore(client.redis);
    let before = 0;
    const isNextSecond = () => {
      const isWrapped = millisecond() < before;
      before = millisecond();
      return isWrapped;
    };
    await until(isNextSecond);
    for (let reading = 0; reading < 10; reading++) {
      const { upFor } = await link!.vitals();
      expect(upFor).toBeLessThanOrEqual(performance.now() - startedAt);
      await until(() => millisecond() > reading * 50);
    }
  });
});

/** Of the second, by the time of day, which the server counts by. */
function millisecond(): number {
  return (performance.timeOrigin + performance.now()) % 1_000;
}
