import 'reflect-metadata';
import { REQUEST } from './name-refusals.js';

/** The metadata of `@LockKey()` and `@CurrentLock()`. */
export interface ParameterMarks {
  /** Names given by `@LockKey('name')`, and the parameters they stand for. */
  readonly keys: ReadonlyMap<string, number>;
  /** Parameters that `@CurrentLock()` fills. */
  readonly locks: readonly number[];
}

const MARKS = Symbol.for('nest-holdfast:parameter-marks');
const NONE: ParameterMarks = { keys: new Map(), locks: [] };

export function parameterMarks(target: object, property: string | symbol): ParameterMarks {
  return (Reflect.getOwnMetadata(MARKS, target, property) as ParameterMarks | undefined) ?? NONE;
}

/** Names a parameter for the key, whatever it is called in the source: `pay(@LockKey('id') orderId: string)`. */
export function LockKey(name: string): ParameterDecorator {
  if (typeof name !== 'string' || !/^[^\s<>.:]+$/.test(name)) {
    throw new TypeError(
      `@LockKey expects a name without blanks, "<", ">", "." or ":", got "${name}"`,
    );
  }
  if (name === REQUEST) {
    throw new TypeError(
      `@LockKey('${name}'): <${name}.…> reads the request of a handler; mark the parameter with another name`,
    );
  }
  return mark('LockKey', (marks, index) => {
    if (marks.keys.has(name)) throw new TypeError(`@LockKey('${name}') marks two parameters`);
    return { ...marks, keys: new Map(marks.keys).set(name, index) };
  });
}

/** Fills the parameter with the `Lock` that the call holds. */
export function CurrentLock(): ParameterDecorator {
  return mark('CurrentLock', (marks, index) => ({ ...marks, locks: [...marks.locks, index] }));
}

function mark(
  decorator: string,
  add: (marks: ParameterMarks, index: number) => ParameterMarks,
): ParameterDecorator {
  return (target, property, index) => {
    if (property === undefined) {
      throw new TypeError(
        `@${decorator}() belongs on a parameter of a method, not of a constructor`,
      );
    }
    Reflect.defineMetadata(MARKS, add(parameterMarks(target, property), index), target, property);
  };
}
