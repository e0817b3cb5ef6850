import 'reflect-metadata';
import { aName } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { checkLeaderOptions, LEADER_RULES } from '../../leader/leader-options.js';
import type { LeaderElectionOptions } from '../../leader/leader-options.js';
import type { LeaderTerm } from '../../leader/leader-term.js';
import { decoratedMethod, injectLocks, labelOf } from './decorated-method.js';

export interface OnElectedOptions extends Omit<LeaderElectionOptions, 'onElected'> {
  /** Name of the instance that locks, as given to `forRoot({ name })`. */
  readonly locks?: string | undefined;
}

export type OnElectedDecorator = <Method extends (term: LeaderTerm) => unknown>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/** The metadata of `@OnElected`. */
export interface Candidate {
  /** `@OnElected on Scheduler.lead`, for messages. */
  readonly label: string;
  readonly name: string;
  readonly locks: string | undefined;
  readonly options: LeaderElectionOptions;
}

const { onElected: _, ...OF_A_CANDIDATE } = LEADER_RULES;
const RULES: OptionRules<OnElectedOptions> = { ...OF_A_CANDIDATE, locks: aName };
const CANDIDATE = Symbol.for('nest-holdfast:candidate');

/**
 * Lets the application stand for election from its start to its shutdown, and calls the method when it is elected:
 *
 * ```ts
 * @OnElected('scheduler')
 * async lead(term: LeaderTerm) {}
 * ```
 *
 * It leads until `term.resign()`, until the lock is lost, or until it shuts down, not until the method returns; `term.signal`
 * aborts then. A method that throws resigns. Throws `TypeError` or `RangeError` naming the option when the class is defined.
 */
export function OnElected(name: string, options: OnElectedOptions = {}): OnElectedDecorator {
  return (target, property, descriptor) => {
    const label = labelOf('@OnElected', target, property);
    const method = decoratedMethod(label, target, descriptor);
    checkLeaderOptions(name, options, label, RULES);
    const { locks, ...others } = options;
    const candidate: Candidate = Object.freeze({ label, name, locks, options: others });
    Reflect.defineMetadata(CANDIDATE, candidate, method);
    injectLocks(target, locks);
  };
}

export function candidateOf(method: Function): Candidate | undefined {
  return Reflect.getMetadata(CANDIDATE, method) as Candidate | undefined;
}
