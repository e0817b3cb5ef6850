import { Observable } from 'rxjs';
import { setLockPlan } from '../../../lib/nest/plan/lock-plan';
import type { LockPlan } from '../../../lib/nest/plan/lock-plan';
import {
  getLockClientToken,
  getLockErrorsToken,
  getLocksToken,
  locksProperty,
} from '../../../lib/nest/plan/lock-tokens';
import {
  adviceForStreams,
  refuseIterableMessages,
  returnKind,
} from '../../../lib/nest/plan/return-kind';
import { LockService } from 'nest-holdfast';
import { errorOf } from '../../core/support/outcome';

class Values extends Observable<number> {}

/** The kind of a method that is annotated with this type. */
function kindOf(type: unknown, method: Function = () => {}) {
  const target = {};
  if (type !== undefined) Reflect.defineMetadata('design:returntype', type, target, 'run');
  return returnKind('@X', target, 'run', method);
}

describe('The kind of a result', () => {
  it.each([
    ['promise', Promise],
    ['promise', Object],
    ['promise', undefined],
    ['promise', null],
    ['observable', Observable],
    ['observable', Values],
  ])('is `%s` of a method that is annotated with %p', (kind, type) => {
    expect(kindOf(type)).toBe(kind);
  });

  it('is an iterable of an async generator, whatever its annotation says', () => {
    expect(kindOf(Observable, async function* () {})).toBe('iterable');
  });

  it('is that of a method that is locked already', () => {
    const method = () => {};
    setLockPlan(method, { returns: 'observable' } as LockPlan);
    expect(kindOf(Promise, method)).toBe('observable');
  });

  it.each([
    ['a text', String, () => {}],
    ['a number', Number, () => {}],
    ['yes or no', Boolean, () => {}],
    ['what a generator gives', undefined, function* () {}],
  ])('is none that can be locked: %s', (_, type, method) => {
    expect(errorOf(() => kindOf(type, method)).message).toBe('@X: a locked method must return a Promise, an Observable or an async iterable'); // prettier-ignore
  });
});

describe('A method that returns an Observable inside a promise', () => {
  it('is told to be annotated, where the build keeps annotations', () => {
    const instance = {};
    const plan = { property: 'run' } as LockPlan;
    expect(adviceForStreams(instance, plan)).toMatch(/^set returns: 'observable', for this build/);
    Reflect.defineMetadata('design:returntype', Promise, instance, 'run');
    expect(adviceForStreams(instance, plan)).toMatch(/^annotate its return type/);
  });
});

describe('A handler of messages', () => {
  it.each(['microservices:pattern', 'websockets:message_mapping'])(
    'does not iterate: %s',
    (mark) => {
      const method = () => {};
      Reflect.defineMetadata(mark, 'x', method);
      expect(errorOf(() => refuseIterableMessages('@X', method)).message).toMatch(/^@X: Nest does not send/); // prettier-ignore
      expect(refuseIterableMessages('@X', () => {})).toBeUndefined();
    },
  );
});

describe('The tokens of an instance', () => {
  it.each([undefined, 'default'])('are those of the one without a name: %s', (name) => {
    expect(getLocksToken(name)).toBe(LockService);
    expect(getLockClientToken(name)).toBe('LockRedisClient:default');
    expect(getLockErrorsToken(name)).toBe('LockErrorOptions:default');
    expect(locksProperty(name).description).toBe('import DistributedLockModule.forRoot()');
  });

  it('have its name', () => {
    expect(getLocksToken('a')).toBe('LockService:a');
    expect(getLockClientToken('a')).toBe('LockRedisClient:a');
    expect(getLockErrorsToken('a')).toBe('LockErrorOptions:a');
    expect(locksProperty('a').description).toBe(
      "import DistributedLockModule.forRoot({ name: 'a' })",
    );
    expect(locksProperty('a')).toBe(locksProperty('a'));
  });
});
