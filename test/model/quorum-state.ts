/** How far one node has come with the messages of one acquisition. */
export enum Stage {
  Sent,
  Granted,
  Confirmed,
  Reserved,
  /** The acquisition has ended, and nothing that it sent to this node can matter. */
  Done,
}

export interface Link {
  readonly stage: Stage;
  /** The value that the node's grant returned, kept while a later step may read it. */
  readonly value: number;
  /** The grant is one of those that the client decided by. */
  readonly isCounted: boolean;
  /** The acquiring command was executed twice. */
  readonly isResent: boolean;
}

export interface LockNode {
  readonly counter: number;
  /** Index of an acquisition, or `FREE`. */
  readonly owner: number;
  readonly links: readonly Link[];
  readonly key: string;
}

export enum Phase {
  Acquiring,
  WritingBack,
  Held,
  Reserving,
  Ended,
}

/** One client's attempt to get the key, and what it does with it. Numbered in the order they begin. */
export interface Acquisition {
  readonly phase: Phase;
  readonly hint: number;
  /** The largest token granted before this acquisition began. */
  readonly floor: number;
  /** The largest counter that the client decided by; 0 before that. */
  readonly token: number;
  /** How many of the reserved tokens were used. */
  readonly used: number;
}

export interface State {
  readonly nodes: readonly LockNode[];
  readonly acquisitions: readonly Acquisition[];
  /** One bit for each token that was granted. */
  readonly granted: number;
}

export const FREE = -1;
export const MAJORITY = 2;
export const SENT: Link = { stage: Stage.Sent, value: 0, isCounted: false, isResent: false };

export function lockNode(counter: number, owner: number, links: readonly Link[]): LockNode {
  let key = String.fromCharCode(counter, owner + 1);
  for (const link of links) key += String.fromCharCode(linkCode(link));
  return { counter, owner, links, key };
}

export function withLink(node: LockNode, index: number, change: Partial<Link>): LockNode {
  const links = node.links.with(index, { ...node.links[index]!, ...change });
  return lockNode(node.counter, node.owner, links);
}

export function withNode(state: State, index: number, node: LockNode): State {
  return { ...state, nodes: state.nodes.with(index, node) };
}

export function withAcquisition(state: State, index: number, change: Partial<Acquisition>): State {
  const acquisition = { ...state.acquisitions[index]!, ...change };
  return { ...state, acquisitions: state.acquisitions.with(index, acquisition) };
}

/** The node may still confirm to this acquisition. */
export function isAwaited({ stage, isCounted }: Link): boolean {
  return stage === Stage.Granted && isCounted;
}

/** The nodes are alike: states that differ by their order are one. */
export function stateKey({ nodes, acquisitions, granted }: State): string {
  const keys = nodes.map(({ key }) => key).toSorted();
  return `${keys.join('')}|${acquisitions.map(acquisitionKey).join('')}|${granted}`;
}

export function nameOf(acquisition: number): string {
  return `#${acquisition + 1}`;
}

function linkCode({ stage, value, isCounted, isResent }: Link): number {
  return stage + (isCounted ? 8 : 0) + (isResent ? 16 : 0) + 32 * value;
}

function acquisitionKey({ phase, hint, floor, token, used }: Acquisition): string {
  return String.fromCharCode(phase + 8 * hint, floor, token, used);
}
