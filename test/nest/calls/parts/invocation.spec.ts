import { EventEmitter } from 'node:events';
import { HandlerScope } from '../../../../lib/nest/calls/handler-scope';
import { Invocation } from '../../../../lib/nest/calls/invocation';
import type { LockPlan } from '../../../../lib/nest/plan/lock-plan';
import { ClientGoneException } from '../../../../lib/nest/transports/client-gone';
import { watch } from '../../../core/support/outcome';
import { settled } from '../../../stores/redlock/support/stub-quorum';
import { contextOf } from '../../support/fake-context';

const handler = () => {};
const event = () => {};
Reflect.defineMetadata('microservices:handler_type', 2, event);
const plan = (signal?: AbortSignal) => ({ label: 'x', property: 'run', options: { signal } }) as LockPlan; // prettier-ignore

/** A wait that ends when its signal aborts. */
function waiting(invocation: Invocation, own = plan()) {
  let signal!: AbortSignal;
  const outcome = watch(
    invocation.enter(own, (given) => {
      signal = given;
      return new Promise((_, reject) =>
        given.addEventListener('abort', () => reject(given.reason as Error)),
      );
    }),
  );
  return { outcome, signal: () => signal };
}

describe('One call of a handler', () => {
  it('is taken by the handler, once at a time', () => {
    const own = new Invocation(contextOf({ handler }));
    expect(own.take(() => {})).toBe(false);
    expect(own.take(handler)).toBe(true);
    expect(own.take(handler)).toBe(false);
    own.giveBack();
    expect(own.take(handler)).toBe(true);
  });

  it('is taken by a first call that comes late, and by none after it is over', () => {
    const late = new Invocation(contextOf({ handler }));
    late.end();
    expect(late.take(handler)).toBe(true);
    late.giveBack();
    expect(late.take(handler)).toBe(false);
    late.begin(); // an interceptor tries it again
    expect(late.take(handler)).toBe(true);
  });

  it('waits until its client goes away, and listens no more then', async () => {
    const response = Object.assign(new EventEmitter(), { end: jest.fn(), destroy: jest.fn() });
    const own = new Invocation(contextOf({ args: [{}, response], handler }));
    const { outcome, signal } = waiting(own);
    await settled();
    expect(signal().aborted).toBe(false);
    response.emit('close');
    await settled();
    expect(outcome.error).toBeInstanceOf(ClientGoneException);
    expect(signal().reason).toBe(outcome.error);
  });

  it('waits until its result is wanted no more', async () => {
    const own = new Invocation(contextOf({ handler }));
    const { outcome } = waiting(own);
    own.end();
    await settled();
    expect(outcome.error).toBeInstanceOf(ClientGoneException);
  });

  it('waits on for an event, whose sender wants no result', async () => {
    const own = new Invocation(contextOf({ type: 'rpc', handler: event }));
    const { outcome } = waiting(own);
    own.end();
    await settled();
    expect(outcome.status).toBe('pending');
  });

  it('waits until the signal of its decorator aborts', async () => {
    const abort = new AbortController();
    const own = new Invocation(contextOf({ handler }));
    const { outcome } = waiting(own, plan(abort.signal));
    abort.abort(new Error('enough'));
    await settled();
    expect(outcome.error).toBe(abort.signal.reason);
  });

  it('gets a scope, and is then ended by nothing', async () => {
    const own = new Invocation(contextOf({ handler }));
    const leave = jest.fn().mockResolvedValue(true);
    const inner = { lock: {}, leave } as never;
    let signal!: AbortSignal;
    const scope = await own.enter({ label: 'x', property: 'run' } as LockPlan, async (given) => {
      signal = given;
      return inner;
    });
    expect(scope).toBeInstanceOf(HandlerScope);
    own.end();
    expect([signal.aborted, leave.mock.calls.length]).toEqual([false, 0]);
  });

  it('leaves the locks of streams that are never read when it is over', () => {
    const own = new Invocation(contextOf({ handler }));
    const leave = jest.fn().mockResolvedValue(true);
    own.streams.add({ leave } as never);
    own.end();
    expect(leave).toHaveBeenCalledTimes(1);
  });
});
