import type { Step } from './explore';
import type { Protocol } from './protocol';
import {
  FREE,
  isAwaited,
  lockNode,
  nameOf,
  Phase,
  SENT,
  Stage,
  withLink,
  withNode,
} from './quorum-state';
import type { Acquisition, Link, LockNode, State } from './quorum-state';

/** A message can arrive at any time, or never, and in any order: more than one connection per node allows. */
export interface Message {
  readonly state: State;
  /** Index of the acquisition that sent it. */
  readonly sender: number;
  /** Index of the node it arrives at. */
  readonly at: number;
}

/**
 * A key may expire at any time, and a release is no more than that. It shows only when the next client comes, so it is
 * part of that step. A refusal changes nothing: it is the same as a request that has not arrived.
 */
export function grant({ state, sender, at }: Message, resends: boolean): Step<State>[] {
  const node = state.nodes[at]!;
  const link = node.links[sender]!;
  const isFirst = link.stage === Stage.Sent;
  if (!isFirst && (link.isResent || !resends)) return [];

  const { hint, phase } = state.acquisitions[sender]!;
  const counter = Math.max(node.counter + 1, hint);
  const owner = phase === Phase.Ended && !isAwaited(link) ? FREE : sender;
  const owned = withLink(
    lockNode(counter, owner, node.links),
    sender,
    granted(phase, counter, link),
  );
  const isTaken = node.owner !== FREE && node.owner !== sender;
  const expiry = isTaken ? `the key of ${nameOf(node.owner)} expires; ` : '';
  const what = `grants to ${nameOf(sender)}${isFirst ? '' : ' again'}, counter ${counter}`;
  return [{ label: `node ${at + 1}: ${expiry}${what}`, state: withNode(state, at, owned) }];
}

function granted(phase: Phase, counter: number, { stage }: Link): Partial<Link> {
  if (stage !== Stage.Sent) return { isResent: true };
  if (phase === Phase.Ended) return { stage: Stage.Done };
  return { stage: Stage.Granted, value: phase === Phase.Acquiring ? counter : 0 };
}

/** An acquisition begins when its first request arrives: sooner makes no difference to the nodes. */
export function begin(state: State, hint: number): State {
  const floor = 31 - Math.clz32(state.granted);
  const acquisition: Acquisition = { phase: Phase.Acquiring, hint, floor, token: 0, used: 0 };
  const nodes = state.nodes.map(({ counter, owner, links }) =>
    lockNode(counter, owner, [...links, SENT]),
  );
  return { ...state, nodes, acquisitions: [...state.acquisitions, acquisition] };
}

/** The token is written back. */
export function confirm({ state, sender, at }: Message, protocol: Protocol): Step<State>[] {
  const node = state.nodes[at]!;
  const { token } = state.acquisitions[sender]!;
  const isAsked = token > 0 && node.links[sender]!.stage === Stage.Granted;
  if (!isAsked || !agrees(node, sender, token, protocol)) return [];
  return [raise({ state, sender, at }, token, Stage.Confirmed, 'confirms')];
}

/** The holder reserves the tokens after its own. */
export function reserve({ state, sender, at }: Message, protocol: Protocol): Step<State>[] {
  const node = state.nodes[at]!;
  const { phase, token } = state.acquisitions[sender]!;
  const { stage } = node.links[sender]!;
  const isAsked = stage === Stage.Granted || stage === Stage.Confirmed;
  if (phase !== Phase.Reserving || !isAsked) return [];
  if (!agrees(node, sender, token, protocol)) return [];
  return [raise({ state, sender, at }, token + protocol.reserve, Stage.Reserved, 'reserves')];
}

function agrees(node: LockNode, sender: number, token: number, protocol: Protocol): boolean {
  if (!node.links[sender]!.isCounted && !protocol.stragglersConfirm) return false;
  if (protocol.counterCheck && node.counter > token) return false;
  return node.owner === sender || !protocol.ownershipCheck;
}

function raise(message: Message, token: number, stage: Stage, verb: string): Step<State> {
  const { state, sender, at } = message;
  const { owner, counter: before, links } = state.nodes[at]!;
  const counter = Math.max(before, token);
  const raised = withLink(lockNode(counter, owner, links), sender, { stage });
  const label = `node ${at + 1}: ${verb} ${token} to ${nameOf(sender)}, counter ${counter}`;
  return { label, state: withNode(state, at, raised) };
}
