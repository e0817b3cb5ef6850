import { NestLog } from '../events/events-log.js';
import type { TransportApp } from '../support/transport-app.js';
import { ask, openGraphql } from '../support/graphql-app.js';
import { PRIVATE, TROUBLES, type Trouble } from '../support/troubles.js';

const REFUSALS = TROUBLES.filter(({ hasRun }) => !hasRun);
/** The messages to the client. */
const SAID: Record<Trouble['name'], string> = {
  busy: 'The lock is held',
  down: 'The lock store is not available',
  lost: 'Internal server error',
};
const FIELDS = { fieldResolverEnhancers: ['interceptors' as const] };

describe('errors of fields', () => {
  let plain: TransportApp;
  let enhanced: TransportApp;

  beforeAll(async () => {
    plain = await openGraphql();
    enhanced = await openGraphql(FIELDS);
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await enhanced[Symbol.asyncDispose]();
  });
  afterEach(() => {
    plain.control.reset();
    enhanced.control.reset();
  });

  it.each(TROUBLES)(
    'have the code of a lock that is $name, beside the other data',
    async ({ name, code, strike }) => {
      strike(enhanced.control, 'price:8');
      const { body, text } = await ask(enhanced, '{ unlocked { id priceBelow } }').expect(200);
      expect(body.data.unlocked).toEqual([
        { id: '7', priceBelow: 'of 7 under price:7' },
        { id: '8', priceBelow: null },
      ]);
      expect(body.errors).toHaveLength(1);
      expect(body.errors).toMatchObject([
        {
          path: ['unlocked', 1, 'priceBelow'],
          message: SAID[name],
          extensions: { code },
        },
      ]);
      expect(text).not.toContain(PRIVATE);
      expect(text).not.toContain('price:8');
    },
  );

  it('know the request', async () => {
    const { body } = await ask(enhanced, '{ unlocked { ofRequest } }').expect(200);
    expect(body.data.unlocked[0]).toEqual({ ofRequest: 'field:acme' });
  });

  it.each(TROUBLES)(
    'have the same code and text where Nest runs no interceptors for fields: $name',
    async ({ name, code, strike }) => {
      strike(plain.control, 'price:8');
      const { body, text } = await ask(plain, '{ unlocked { priceBelow } }').expect(200);
      expect(body.data.unlocked[1]).toEqual({ priceBelow: null });
      expect(body.errors).toMatchObject([{ message: SAID[name], extensions: { code } }]);
      expect(text).not.toContain(PRIVATE);
      expect(text).not.toContain('price:8');
    },
  );

  it('say what to do about <request.…> there', async () => {
    const { body } = await ask(plain, '{ unlocked { ofRequest } }').expect(200);
    expect(body.errors[0].message).toContain('<request.…> is known only where Nest calls');
  });
});

it.each(REFUSALS)('a service’s lock that is $name has its code', async (trouble) => {
  await using transport = await openGraphql();
  trouble.strike(transport.control, 'stock:7');
  const { body, text } = await ask(transport, '{ throughService(id: 7) }').expect(200);
  expect(body.errors).toMatchObject([{ extensions: { code: trouble.code } }]);
  expect(text).not.toContain(PRIVATE);
});

it('a key that is held is no news for the log, a store that fails is', async () => {
  await using transport = await openGraphql();
  using log = new NestLog();
  transport.app.useLogger(log);
  transport.control.busy('order:7');
  await ask(transport, '{ below(id: 7) { id } }');
  expect(log.errors).toEqual([]);
  TROUBLES.find(({ name }) => name === 'down')!.strike(transport.control, 'order:7');
  await ask(transport, '{ below(id: 7) { id } }');
  await log.untilError(PRIVATE);
});

it('answers 409 and 503 where Nest is told to keep the status of errors', async () => {
  await using transport = await openGraphql({ preserveHttpStatusForExecutionErrors: false });
  transport.control.busy('order:7');
  const { body } = await ask(transport, '{ below(id: 7) { id } }').expect(409);
  expect(body.errors[0].extensions.code).toBe('LOCK_TIMEOUT');
  transport.control.failing('order:8');
  await ask(transport, '{ below(id: 8) { id } }').expect(503);
});
