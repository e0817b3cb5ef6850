import { askForMore, decide, giveUp, handOut, handOff } from './client-steps';
import type { Model, Step } from './explore';
import type { Guarantee } from './guarantees';
import { begin, confirm, grant, reserve } from './node-steps';
import type { Bounds, Protocol } from './protocol';
import { FREE, lockNode, Phase, stateKey } from './quorum-state';
import type { State } from './quorum-state';

export class QuorumFencing implements Model<State> {
  readonly initial: readonly State[];
  readonly key = stateKey;
  readonly #protocol: Protocol;
  readonly #bounds: Bounds;
  readonly #guarantees: readonly Guarantee[];

  constructor(protocol: Protocol, bounds: Bounds, guarantees: readonly Guarantee[]) {
    this.#protocol = protocol;
    this.#bounds = bounds;
    this.#guarantees = guarantees;
    this.initial = bounds.starts.map((counters) => ({
      nodes: counters.map((counter) => lockNode(counter, FREE, [])),
      acquisitions: [],
      granted: 0,
    }));
  }

  steps(state: State): Step<State>[] {
    const nodes = [...state.nodes.keys()];
    const acquisitions = [...state.acquisitions.keys()];
    return [
      ...this.#beginnings(state),
      ...acquisitions.flatMap((sender) => nodes.flatMap((at) => this.#messages(state, sender, at))),
      ...acquisitions.flatMap((index) => this.#clientSteps(state, index)),
    ];
  }

  #beginnings(state: State): Step<State>[] {
    const { acquisitions, nodes } = state;
    const running = acquisitions.filter(({ phase }) => phase !== Phase.Ended);
    if (!this.#hasMoreToBegin(state) || running.length === this.#bounds.clients) return [];
    return this.#bounds.hints.flatMap((hint) => {
      const begun = begin(state, hint);
      const sender = acquisitions.length;
      return nodes.flatMap((_, at) => grant({ state: begun, sender, at }, false));
    });
  }

  #messages(state: State, sender: number, at: number): Step<State>[] {
    const message = { state, sender, at };
    return [
      ...grant(message, sender < this.#bounds.resends),
      ...confirm(message, this.#protocol),
      ...reserve(message, this.#protocol),
    ];
  }

  #clientSteps(state: State, index: number): Step<State>[] {
    return [
      ...decide(state, index, this.#protocol),
      ...handOut(state, index, this.#protocol, this.#guarantees),
      ...askForMore(state, index),
      ...handOff(state, index, this.#protocol, this.#guarantees),
      ...(this.#hasMoreToBegin(state) ? giveUp(state, index) : []),
    ];
  }

  #hasMoreToBegin({ acquisitions }: State): boolean {
    return acquisitions.length < this.#bounds.acquisitions;
  }
}
