import type { Step } from './explore';
import type { Grant, Guarantee } from './guarantees';
import type { Protocol } from './protocol';
import { FREE, isAwaited, lockNode, MAJORITY, nameOf, Phase, Stage } from './quorum-state';
import { withAcquisition, withLink } from './quorum-state';
import type { LockNode, State } from './quorum-state';

/** The client knows that these nodes granted; of a third grant it may not have heard yet. */
const COUNTABLE: readonly (readonly number[])[] = [
  [0, 1],
  [0, 2],
  [1, 2],
  [0, 1, 2],
];

export function decide(state: State, index: number, protocol: Protocol): Step<State>[] {
  if (state.acquisitions[index]!.phase !== Phase.Acquiring) return [];
  const hasGranted = (at: number) => state.nodes[at]!.links[index]!.stage === Stage.Granted;
  return COUNTABLE.filter((counted) => counted.every(hasGranted)).map((counted) =>
    decideBy(state, index, counted, protocol),
  );
}

function decideBy(
  state: State,
  index: number,
  counted: readonly number[],
  protocol: Protocol,
): Step<State> {
  const values = counted.map((at) => state.nodes[at]!.links[index]!.value);
  const token = Math.max(...values);
  const isAgreed = values.filter((value) => value === token).length >= MAJORITY;
  const isConfirmed = (value: number) =>
    !protocol.writeBack || (value === token && (isAgreed || protocol.trustsExactReplies));

  const nodes = state.nodes.map((node, at): LockNode => {
    const { stage, value } = node.links[index]!;
    const isCounted = counted.includes(at);
    const now = isCounted && isConfirmed(value) ? Stage.Confirmed : stage;
    return withLink(node, index, { stage: now, isCounted, value: 0 });
  });
  const decided = withAcquisition({ ...state, nodes }, index, { phase: Phase.WritingBack, token });
  const by = counted.map((at) => at + 1).join(' and ');
  return { label: `${nameOf(index)} decides for ${token} by nodes ${by}`, state: decided };
}

export function handOut(
  state: State,
  index: number,
  protocol: Protocol,
  guarantees: readonly Guarantee[],
): Step<State>[] {
  const { phase, token } = state.acquisitions[index]!;
  if (phase !== Phase.WritingBack || !hasMajority(state, index, Stage.Confirmed)) return [];
  const held = withAcquisition(state, index, { phase: Phase.Held });
  const after = protocol.reserve > 0 ? held : end(state, index);
  return [granted({ state, acquisition: index, token }, after, guarantees)];
}

/** The holder passes the lock on inside its process, with a token that it reserved. */
export function handOff(
  state: State,
  index: number,
  protocol: Protocol,
  guarantees: readonly Guarantee[],
): Step<State>[] {
  const { phase, token, used } = state.acquisitions[index]!;
  if (phase !== Phase.Reserving || used === protocol.reserve) return [];
  if (!hasMajority(state, index, Stage.Reserved)) return [];
  const after = withAcquisition(state, index, { used: used + 1 });
  return [granted({ state, acquisition: index, token: token + used + 1 }, after, guarantees)];
}

export function askForMore(state: State, index: number): Step<State>[] {
  if (state.acquisitions[index]!.phase !== Phase.Held) return [];
  const asked = withAcquisition(state, index, { phase: Phase.Reserving });
  return [{ label: `${nameOf(index)} asks for more tokens`, state: asked }];
}

/** By its deadline, or because its user asks. Reservations are explored where no other client needs its place. */
export function giveUp(state: State, index: number): Step<State>[] {
  const { phase } = state.acquisitions[index]!;
  if (phase === Phase.Ended || phase === Phase.Reserving) return [];
  return [{ label: `${nameOf(index)} ends`, state: end(state, index) }];
}

/** Messages under way may still arrive. State without an effect is wiped out, so that equal states meet. */
function end(state: State, index: number): State {
  const nodes = state.nodes.map((node) => {
    const link = node.links[index]!;
    if (link.stage === Stage.Sent || isAwaited(link)) return node;
    const owner = node.owner === index ? FREE : node.owner;
    const done = { stage: Stage.Done, isCounted: false, value: 0 };
    return withLink(lockNode(node.counter, owner, node.links), index, done);
  });
  const isOver = nodes.every(({ links }) => !isAwaited(links[index]!));
  const change = { phase: Phase.Ended, floor: 0, ...(isOver ? { token: 0 } : {}) };
  return withAcquisition({ ...state, nodes }, index, change);
}

function hasMajority(state: State, index: number, least: Stage): boolean {
  const { nodes } = state;
  return nodes.filter(({ links }) => links[index]!.stage >= least).length >= MAJORITY;
}

function granted(grant: Grant, after: State, guarantees: readonly Guarantee[]): Step<State> {
  const { acquisition, token } = grant;
  return {
    label: `${nameOf(acquisition)} gets ${token}`,
    state: { ...after, granted: after.granted | (1 << token) },
    violation: guarantees.map((holds) => holds(grant)).find((broken) => broken !== undefined),
  };
}
