import type { Model, Step } from '../explore';
import { JUMPS, targetCounter, tokenOf } from './migration-rules';
import type { Rules } from './migration-rules';
import { NOBODY, keyOf, withClient } from './migration-state';
import type { Client, Mode, State } from './migration-state';

export interface Bounds {
  readonly modes: readonly Mode[];
  /** How often each process may ask. */
  readonly acquisitions: readonly number[];
  /** The counters at the start. */
  readonly sourceCounter?: number;
  readonly targetCounter?: number;
}

/** Processes of several configurations that ask two stores for one key, each of which may be killed at every step. */
export class Migration implements Model<State> {
  readonly initial: readonly State[];
  readonly #modes: readonly Mode[];
  readonly #rules: Rules;

  constructor(bounds: Bounds, rules: Rules) {
    const { modes, acquisitions, sourceCounter = 0, targetCounter: counter = 0 } = bounds;
    this.#modes = modes;
    this.#rules = rules;
    const clients = acquisitions.map((left): Client => ({ stage: 'idle', source: 0, target: 0, left })); // prettier-ignore
    const credential = modes.includes('old') ? 'works' : 'long deleted';
    const source = { owner: NOBODY, counter: sourceCounter };
    this.initial = [{ source, target: { owner: NOBODY, counter }, clients, largest: 0, credential }]; // prettier-ignore
  }

  readonly key = keyOf;

  steps(state: State): Step<State>[] {
    const each = this.#modes.flatMap((mode, index) => this.#stepsOf(state, index, mode));
    return [...each, ...this.#operator(state)];
  }

  #stepsOf(state: State, index: number, mode: Mode): Step<State>[] {
    const { stage } = state.clients[index]!;
    const ends = [...this.#ending(state, index), ...expiry(state, index)];
    if (stage === 'idle') return [...ends, ...this.#asks(state, index, mode)];
    if (stage === 'source') return [...ends, this.#asksTarget(state, index, mode)];
    if (stage === 'both') return [...ends, ...this.#handsOut(state, index, mode)];
    if (stage === 'held') return [...ends, this.#releasesTarget(state, index, mode)];
    if (stage === 'releasing') return [...ends, releasesSource(state, index)];
    return ends;
  }

  /** The credential of the old configuration is deleted, and then all that it granted is over. */
  #operator(state: State): Step<State>[] {
    const { credential, source, target } = state;
    if (credential === 'works')
      return [{ label: 'the credential is deleted', state: { ...state, credential: 'deleted' } }];
    const isHeld = state.clients.some(
      ({ stage }, index) => stage === 'held' && this.#modes[index] === 'old',
    );
    if (credential !== 'deleted' || isHeld) return [];
    // The clocks of the two stores differ by less than `largestTtl`.
    const counter = Math.max(target.counter, source.counter);
    const caughtUp = this.#rules.numbers === 'counters' ? { ...target, counter } : target;
    return [{ label: '`largestTtl` passes', state: { ...state, credential: 'long deleted', target: caughtUp } }]; // prettier-ignore
  }

  #ending(state: State, index: number): Step<State>[] {
    const { stage } = state.clients[index]!;
    const to = (next: Client['stage']): Step<State> => ({
      label: `#${index + 1} is ${next}`,
      state: withClient(state, index, { stage: next }),
    });
    if (stage === 'dead' || stage === 'idle') return [];
    if (stage === 'lost') return [to('dead'), to('idle')];
    return stage === 'releasing' ? [to('dead')] : [to('dead'), to('lost')];
  }

  #asks(state: State, index: number, mode: Mode): Step<State>[] {
    const { left } = state.clients[index]!;
    const { source, target, credential } = state;
    if (left === 0 || source.owner === index || target.owner === index) return [];
    if (mode === 'to') return this.#asksTargetAlone(state, index);
    if (source.owner !== NOBODY || (mode === 'old' && credential !== 'works')) return [];
    const jumps = this.#rules.numbers === 'source revisions' ? [1] : JUMPS;
    return jumps.map((jump) => {
      const counter = source.counter + jump;
      const taken = { ...state, source: { owner: index, counter } };
      const label = `#${index + 1} gets ${counter} from the source`;
      if (mode === 'old') return this.#granted(withClient(taken, index, { left: left - 1 }), index, counter); // prettier-ignore
      const asked = { stage: 'source', source: counter, left: left - 1 } as const;
      return { label, state: withClient(taken, index, asked) };
    });
  }

  #asksTargetAlone(state: State, index: number): Step<State>[] {
    const { target, clients, credential } = state;
    const { numbers, base, hasBarrier } = this.#rules;
    if (target.owner !== NOBODY || (hasBarrier && credential !== 'long deleted')) return [];
    return JUMPS.map((jump) => {
      const counter = target.counter + jump;
      const taken = { ...state, target: { owner: index, counter } };
      const asked = withClient(taken, index, { left: clients[index]!.left - 1 });
      return this.#granted(asked, index, numbers === 'target revisions' ? base + counter : counter);
    });
  }

  /** A refusal gives the source back. */
  #asksTarget(state: State, index: number, mode: Mode): Step<State> {
    const { target, clients } = state;
    if (target.owner !== NOBODY) {
      const label = `#${index + 1} is refused by the target`;
      return { label, state: withClient(freed(state, 'source', index), index, IDLE) };
    }
    const counter = targetCounter(target.counter, clients[index]!.source, mode, this.#rules);
    const taken = { ...state, target: { owner: index, counter } };
    const label = `#${index + 1} gets ${counter} from the target`;
    return { label, state: withClient(taken, index, { stage: 'both', target: counter }) };
  }

  #handsOut(state: State, index: number, mode: Mode): Step<State>[] {
    const { source: own, target } = state.clients[index]!;
    const token = tokenOf(mode, own, target, this.#rules);
    const { source } = state;
    const { numbers, raisesSource } = this.#rules;
    if (token <= own || !raisesSource || numbers === 'source revisions')
      return [this.#granted(state, index, token)];
    if (source.owner !== index) return []; // the second attempt is refused
    const raised = { ...source, counter: Math.max(source.counter, token) };
    return [this.#granted({ ...state, source: raised }, index, token)];
  }

  #releasesTarget(state: State, index: number, mode: Mode): Step<State> {
    const released = mode === 'old' ? state : this.#without(state, 'target', index);
    const stage = mode === 'to' ? 'idle' : 'releasing';
    const label = `#${index + 1} frees the target`;
    return { label, state: withClient(released, index, { ...IDLE, stage }) };
  }

  /** A revision grows with a release, too. */
  #without(state: State, at: 'source' | 'target', index: number): State {
    const after = freed(state, at, index);
    if (this.#rules.numbers !== `${at} revisions` || after === state) return after;
    return { ...after, [at]: { ...after[at], counter: after[at].counter + 1 } };
  }

  #granted(state: State, index: number, token: number): Step<State> {
    const held = withClient(state, index, { stage: 'held' });
    const label = `#${index + 1} holds the lock with ${token}`;
    const other = state.clients.findIndex((each, at) => at !== index && each.stage === 'held');
    const isBack = token <= state.largest;
    const violation =
      other >= 0
        ? `two holders: #${other + 1}, #${index + 1}`
        : isBack
          ? `token ${token} after ${state.largest}`
          : undefined;
    return { label, state: { ...held, largest: Math.max(token, state.largest) }, violation };
  }
}

const IDLE = { stage: 'idle', source: 0, target: 0 } as const;

/** The key of a store may be over once its owner does not rely on it. */
function expiry(state: State, index: number): Step<State>[] {
  const { stage } = state.clients[index]!;
  if (stage !== 'dead' && stage !== 'idle' && stage !== 'lost') return [];
  return (['source', 'target'] as const)
    .filter((at) => state[at].owner === index)
    .map((at) => ({
      label: `the key of #${index + 1} is over at the ${at}`,
      state: freed(state, at, index),
    }));
}

function releasesSource(state: State, index: number): Step<State> {
  const label = `#${index + 1} frees the source`;
  return { label, state: withClient(freed(state, 'source', index), index, IDLE) };
}

function freed(state: State, at: 'source' | 'target', index: number): State {
  if (state[at].owner !== index) return state;
  return { ...state, [at]: { ...state[at], owner: NOBODY } };
}
