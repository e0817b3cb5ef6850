import type { Server, ServerResponse } from 'node:http';
import { until } from '../../../support/until.js';
import type { Door } from '../support/door-app.js';
import { openGraphql, Orders } from '../support/graphql-app.js';

describe('a GraphQL client that goes away while its resolvers wait', () => {
  let door: Door;
  const responses: ServerResponse[] = [];

  beforeAll(async () => {
    door = await openGraphql({ fieldResolverEnhancers: ['interceptors'] });
    const server = door.app.getHttpServer() as Server;
    server.on('request', (_request, response) => responses.push(response));
  });
  afterAll(() => door[Symbol.asyncDispose]());
  afterEach(() => door.control.reset());

  /** Sends one operation, and returns how to hang up. */
  const send = async (query: string) => {
    const client = new AbortController();
    const { signal } = client;
    const headers = { 'content-type': 'application/json' };
    const url = `${await door.app.getUrl()}/graphql`;
    fetch(url, { method: 'POST', headers, signal, body: JSON.stringify({ query }) }).catch(
      () => {}, // of the abort
    );
    return () => client.abort();
  };

  it('ends the wait of a mutation', async () => {
    const elsewhere = door.control.hold('order:7');
    const hangUp = await send('mutation { payInTime(id: 7) }');
    await door.control.untilWaiting('order:7');
    hangUp();
    await until(() => door.control.waiters() === 0);
    elsewhere.release();
    expect(await door.isFree('order:7')).toBe(true);
    expect(door.get(Orders).ran).toEqual([]);
  });

  it('ends the waits of its fields, which all listen once', async () => {
    door.control.hold();
    const hangUp = await send('{ unlocked(count: 20) { priceInTime } }');
    await until(() => door.control.waiters() === 20);
    expect(responses.at(-1)!.listenerCount('close')).toBeLessThan(10);
    hangUp();
    await until(() => door.control.waiters() === 0);
    expect(door.log).toEqual([]);
  });
});
