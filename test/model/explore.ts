/** One thing that may happen next. `violation` says which promise it breaks. */
export interface Step<State> {
  readonly label: string;
  readonly state: State;
  readonly violation?: string | undefined;
}

export interface Model<State> {
  readonly initial: readonly State[];
  /** Everything that may happen next, in an order that depends on the state alone. */
  steps(state: State): readonly Step<State>[];
  /** Two states with one key have the same future. */
  key(state: State): string;
}

export interface Exploration {
  readonly states: number;
  /** The shortest way to a violation, which is its last line. */
  readonly counterexample?: readonly string[];
}

/** A `Set` holds no more than 2^24 strings. */
const SET_LIMIT = 16_000_000;

/** Visits every state that can be reached, nearest first, and stops at the first violation. */
export function explore<State>(model: Model<State>): Exploration {
  const visited = new Visited();
  const trail = new Trail();
  let level: readonly State[] = model.initial;
  level.forEach((state, choice) => {
    visited.add(model.key(state));
    trail.add(-1, choice);
  });
  let firstOfLevel = 0;

  while (level.length > 0) {
    const next: State[] = [];
    for (const [index, state] of level.entries()) {
      for (const [choice, step] of model.steps(state).entries()) {
        if (step.violation !== undefined) {
          const counterexample = [...trail.labels(model, firstOfLevel + index), step.label];
          return { states: visited.size, counterexample: [...counterexample, step.violation] };
        }
        if (!visited.add(model.key(step.state))) continue;
        trail.add(firstOfLevel + index, choice);
        next.push(step.state);
      }
    }
    firstOfLevel += level.length;
    level = next;
  }
  return { states: visited.size };
}

class Visited {
  readonly #sets = [new Set<string>()];

  get size(): number {
    return this.#sets.reduce((sum, set) => sum + set.size, 0);
  }

  /** False when the key was there. */
  add(key: string): boolean {
    if (this.#sets.some((set) => set.has(key))) return false;
    if (this.#sets[0]!.size >= SET_LIMIT) this.#sets.unshift(new Set());
    this.#sets[0]!.add(key);
    return true;
  }
}

/** How each state was first reached: two numbers, from which the way is walked again. */
class Trail {
  readonly #parents: number[] = [];
  readonly #choices: number[] = [];

  add(parent: number, choice: number): void {
    this.#parents.push(parent);
    this.#choices.push(choice);
  }

  labels<State>(model: Model<State>, last: number): string[] {
    const choices: number[] = [];
    for (let at = last; at >= 0; at = this.#parents[at]!) choices.unshift(this.#choices[at]!);

    const [start, ...rest] = choices;
    let state: State = model.initial[start!]!;
    return rest.map((choice) => {
      const step = model.steps(state)[choice]!;
      state = step.state;
      return step.label;
    });
  }
}
