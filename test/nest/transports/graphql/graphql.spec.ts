import { ask, openGraphql, Orders } from '../support/graphql-app.js';
import type { TransportApp } from '../support/transport-app.js';
import { PRIVATE, TROUBLES } from '../support/troubles.js';

describe('GraphQL', () => {
  let transport: TransportApp;

  beforeAll(async () => {
    transport = await openGraphql();
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  afterEach(() => {
    transport.control.reset();
    transport.takeLog();
    transport.get(Orders).ran.length = 0;
  });

  it.each([
    'query { above(id: 7) { id } }',
    'query { below(id: 7) { id } }',
    'mutation { payAbove(id: 7) { id } }',
    'mutation { payBelow(id: 7) { id } }',
    'mutation { payBefore(id: 7) { id } }',
  ])('locks a resolver: %s', async (query) => {
    const { body } = await ask(transport, query).expect(200);
    expect(Object.values(body.data)).toEqual([{ id: '7' }]);
    expect(transport.get(Orders).ran).toEqual(['7 under order:7']);
    expect(transport.log).toEqual(['+order:7', '-order:7']);
  });

  it('gives keys the headers of the request', async () => {
    await ask(transport, '{ ofTenant { id } }').expect(200);
    expect(transport.log).toEqual(['+tenant:acme', '-tenant:acme']);
  });

  it('locks resolvers of request scope', async () => {
    const { body } = await ask(transport, '{ scoped(id: "7") }').expect(200);
    expect(body).toEqual({ data: { scoped: 'scoped:7' } });
  });

  it.each(['priceAbove', 'priceBelow'])('locks a field, once per parent: %s', async (field) => {
    const { body } = await ask(transport, `{ unlocked { ${field} } }`).expect(200);
    expect(body.data.unlocked).toEqual([
      { [field]: 'of 7 under price:7' },
      { [field]: 'of 8 under price:8' },
    ]);
    expect(transport.takeLog().toSorted()).toEqual([
      '+price:7',
      '+price:8',
      '-price:7',
      '-price:8',
    ]);
  });

  describe.each(TROUBLES)('with a lock that is $name', ({ code, hasRun, strike }) => {
    it.each(['{ above(id: 7) { id } }', 'mutation { payBelow(id: 7) { id } }'])(
      'answers 200 with an error: %s',
      async (query) => {
        strike(transport.control, 'order:7');
        const { body, text } = await ask(transport, query).expect(200);
        expect(body.data).toBeNull();
        expect(body.errors).toHaveLength(1);
        expect(body.errors[0].extensions.code).toBe(code);
        expect(text).not.toContain(PRIVATE);
        expect(text).not.toContain('order:7');
        expect(transport.get(Orders).ran).toHaveLength(hasRun ? 1 : 0);
      },
    );
  });
});
