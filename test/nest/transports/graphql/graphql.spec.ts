import { ask, openGraphql, Orders } from '../support/graphql-app.js';
import type { Door } from '../support/door-app.js';
import { PRIVATE, TROUBLES } from '../support/troubles.js';

describe('GraphQL', () => {
  let door: Door;

  beforeAll(async () => {
    door = await openGraphql();
  });
  afterAll(() => door[Symbol.asyncDispose]());
  afterEach(() => {
    door.control.reset();
    door.takeLog();
    door.get(Orders).ran.length = 0;
  });

  it.each([
    'query { above(id: 7) { id } }',
    'query { below(id: 7) { id } }',
    'mutation { payAbove(id: 7) { id } }',
    'mutation { payBelow(id: 7) { id } }',
    'mutation { payBefore(id: 7) { id } }',
  ])('locks a resolver: %s', async (query) => {
    const { body } = await ask(door, query).expect(200);
    expect(Object.values(body.data)).toEqual([{ id: '7' }]);
    expect(door.get(Orders).ran).toEqual(['7 under order:7']);
    expect(door.log).toEqual(['+order:7', '-order:7']);
  });

  it('gives keys the headers of the request', async () => {
    await ask(door, '{ ofTenant { id } }').expect(200);
    expect(door.log).toEqual(['+tenant:acme', '-tenant:acme']);
  });

  it('locks resolvers of request scope', async () => {
    const { body } = await ask(door, '{ scoped(id: "7") }').expect(200);
    expect(body).toEqual({ data: { scoped: 'scoped:7' } });
  });

  it.each(['priceAbove', 'priceBelow'])('locks a field, once per parent: %s', async (field) => {
    const { body } = await ask(door, `{ unlocked { ${field} } }`).expect(200);
    expect(body.data.unlocked).toEqual([
      { [field]: 'of 7 under price:7' },
      { [field]: 'of 8 under price:8' },
    ]);
    expect(door.takeLog().toSorted()).toEqual(['+price:7', '+price:8', '-price:7', '-price:8']);
  });

  describe.each(TROUBLES)('with a lock that is $name', ({ code, hasRun, strike }) => {
    it.each(['{ above(id: 7) { id } }', 'mutation { payBelow(id: 7) { id } }'])(
      'answers 200 with an error: %s',
      async (query) => {
        strike(door.control, 'order:7');
        const { body, text } = await ask(door, query).expect(200);
        expect(body.data).toBeNull();
        expect(body.errors).toHaveLength(1);
        expect(body.errors[0].extensions.code).toBe(code);
        expect(text).not.toContain(PRIVATE);
        expect(text).not.toContain('order:7');
        expect(door.get(Orders).ran).toHaveLength(hasRun ? 1 : 0);
      },
    );
  });
});
