import type { Server, ServerResponse } from 'node:http';
import { until } from '../../../support/until.js';
import type { TransportApp } from '../support/transport-app.js';
import { openGraphql, Orders } from '../support/graphql-app.js';

describe('a GraphQL client that goes away while its resolvers wait', () => {
  let transport: TransportApp;
  const responses: ServerResponse[] = [];

  beforeAll(async () => {
    transport = await openGraphql({ fieldResolverEnhancers: ['interceptors'] });
    const server = transport.app.getHttpServer() as Server;
    server.on('request', (_request, response) => responses.push(response));
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  afterEach(() => transport.control.reset());

  /** Sends one operation, and returns how to hang up. */
  const send = async (query: string) => {
    const client = new AbortController();
    const { signal } = client;
    const headers = { 'content-type': 'application/json' };
    const url = `${await transport.app.getUrl()}/graphql`;
    fetch(url, { method: 'POST', headers, signal, body: JSON.stringify({ query }) }).catch(
      () => {}, // of the abort
    );
    return () => client.abort();
  };

  it('ends the wait of a mutation', async () => {
    const elsewhere = transport.control.hold('order:7');
    const hangUp = await send('mutation { payInTime(id: 7) }');
    await transport.control.untilWaiting('order:7');
    hangUp();
    await until(() => transport.control.waiters() === 0);
    elsewhere.release();
    expect(await transport.isFree('order:7')).toBe(true);
    expect(transport.get(Orders).ran).toEqual([]);
  });

  it('ends the waits of its fields, which all listen once', async () => {
    transport.control.hold();
    const hangUp = await send('{ unlocked(count: 20) { priceInTime } }');
    await until(() => transport.control.waiters() === 20);
    expect(responses.at(-1)!.listenerCount('close')).toBeLessThan(10);
    hangUp();
    await until(() => transport.control.waiters() === 0);
    expect(transport.log).toEqual([]);
  });
});
