import { connect } from 'node:net';
import { inspect } from 'node:util';
import { freePort } from '../../support/processes/free-port.js';
import { reasonOf, withoutSecrets } from '../../../lib/core/contract/safe-error.js';

const SECRET = 'hunter2';

/** Shows all levels and hidden properties. */
const deeply = (value: unknown) =>
  inspect(value, { depth: Infinity, showHidden: true, getters: true });

describe('withoutSecrets', () => {
  it('leaves out what was sent, at any depth, and keeps what says what went wrong', () => {
    const reply = Object.assign(new Error('WRONGPASS'), {
      code: 'WRONGPASS',
      command: { name: 'auth', args: [SECRET] },
    });
    Object.defineProperty(reply, 'options', { value: { password: SECRET } });
    const error = new Error('all failed', { cause: reply });
    Object.assign(error, { errors: [reply], [Symbol('config')]: SECRET, port: 6379 });
    const safe = withoutSecrets(error) as AggregateError & { port: number };
    expect(deeply(safe)).not.toContain(SECRET);
    expect(safe).toMatchObject({ message: 'all failed', port: 6379 });
    expect(safe.stack).toBe(error.stack);
    for (const inner of [safe.cause, safe.errors[0]]) {
      expect(inner).toMatchObject({ message: 'WRONGPASS', code: 'WRONGPASS' });
      expect((inner as Error).stack).toBe(reply.stack);
    }
  });

  it('takes credentials out of messages, stacks and fields', () => {
    const url = `redis://:${SECRET}@h`;
    const error = Object.assign(new TypeError(`Invalid URL: ${url}`), { input: url, address: url });
    const safe = withoutSecrets(error);
    expect(deeply(safe)).not.toContain(SECRET);
    expect(safe).toMatchObject({
      name: 'TypeError',
      message: 'Invalid URL: redis://***@h',
      address: 'redis://***@h',
    });
  });

  it.each([
    ['of a field', Object.assign(new Error('down'), { address: `redis://:${SECRET}@h` })],
    ['of one of several errors', new AggregateError([{ password: SECRET }], 'down')],
  ])('takes out the credentials %s alone', (_, error) => {
    expect(deeply(withoutSecrets(error))).not.toContain(SECRET);
  });

  it('leaves the fields of the copy as open to change as those of an error', () => {
    const error = Object.assign(new Error('down', { cause: 5 }), { command: SECRET });
    const safe = withoutSecrets(error) as Error;
    expect(Object.getOwnPropertyDescriptor(safe, 'cause')).toEqual(
      Object.getOwnPropertyDescriptor(error, 'cause'),
    );
  });

  it('keeps an error that has nothing to hide as the object that it is', async () => {
    const refused = connect(await freePort(), '127.0.0.1');
    const system = await new Promise<Error>((resolve) => refused.once('error', resolve));
    const plain = new Error('down', { cause: system });
    class DriverError extends Error {}
    const all = [system, plain, new DriverError('x'), new AggregateError([system, plain], 'both')];
    for (const error of all) expect(withoutSecrets(error)).toBe(error);
  });

  it('does not call what a driver computes', () => {
    const error = new Error('x');
    const get = jest.fn(() => SECRET);
    Object.defineProperty(error, 'config', { enumerable: true, get });
    expect(deeply(withoutSecrets(error))).not.toContain(SECRET);
    expect(get).not.toHaveBeenCalled();
    const computed = Object.defineProperty(new Error('x'), 'cause', {
      get: () => new Error(SECRET),
    });
    expect(withoutSecrets(computed)).not.toBe(computed);
  });

  it('ends for an error that is its own cause', () => {
    const error: Error & { command?: string } = new Error('x');
    error.cause = error;
    error.command = SECRET;
    expect(deeply(withoutSecrets(error))).not.toContain(SECRET);
  });

  it.each([
    [`redis://:${SECRET}@h`, 'redis://***@h'],
    ['no luck', 'no luck'],
    [42, 42],
    [undefined, undefined],
    [null, null],
  ])('of what is no object, %p, leaves %p', (thrown, expected) => {
    expect(withoutSecrets(thrown)).toBe(expected);
  });

  it('makes an error of an object that is none', () => {
    const thrown = { message: 'down', code: 14, metadata: { authorization: SECRET } };
    const safe = withoutSecrets(thrown);
    expect(safe).toBeInstanceOf(Error);
    expect(safe).toMatchObject({ message: 'down', code: 14 });
    expect(deeply(safe)).not.toContain(SECRET);
  });
});

describe('reasonOf', () => {
  it('names what an error without a message consists of', () => {
    const errors = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}`));
    expect(reasonOf(new AggregateError(errors, ''))).toBe(
      'connect ECONNREFUSED ::1, connect ECONNREFUSED 127.0.0.1',
    );
    expect(reasonOf(Object.assign(new Error(''), { code: 'EPIPE' }))).toBe('EPIPE');
    expect(reasonOf(new RangeError())).toBe('RangeError');
  });

  it('takes any thrown value', () => {
    expect([null, undefined, 5, 'text'].map(reasonOf)).toEqual(['null', 'undefined', '5', 'text']);
    expect([{}, Object.create(null), []].map(reasonOf)).toEqual(Array(3).fill('unknown'));
  });

  it('has no secrets', () => {
    expect(reasonOf(new Error(`redis://:${SECRET}@h`))).toBe('redis://***@h');
    expect(reasonOf(`redis://:${SECRET}@h`)).toBe('redis://***@h');
  });
});
