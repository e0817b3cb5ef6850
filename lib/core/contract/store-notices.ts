import { redact } from '../text/redaction.js';
import type { StoreRevocation } from './eviction.js';

/** Unsolicited events of a store. */
export type StoreNotice = StoreDoubt | NodeNotice | StoreRevocation;

/** Grants may have been lost, in a failover say. Core extends each one at once, which confirms or loses it. */
export interface StoreDoubt {
  readonly type: 'doubt';
  readonly reason: string;
  /** Whether a lease of these keys is affected. Missing: all are. */
  readonly concerns?: ((keys: readonly string[]) => boolean) | undefined;
}

/** A node of a store that has several becomes usable or unusable. */
export interface NodeNotice {
  readonly type: 'node';
  readonly node: string;
  /** `suspended`: not asked for a while. `quarantined`: asked, without a vote. `recovered`: it is asked and has a vote. */
  readonly state: 'suspended' | 'quarantined' | 'recovered';
  readonly reason: string;
}

/** One node of a store that has several. */
export interface LockNode {
  readonly node: string;
  /** Only an `up` node has a vote. `disconnected`: it has no connection. The others are as in `NodeNotice`. */
  readonly state: 'up' | 'suspended' | 'quarantined' | 'disconnected';
}

/** A setting of a server that may lose locks, or make them fail. */
export interface StoreWarning {
  /** Stable: `HOLDFAST_REDIS_EVICTION`. */
  readonly code: string;
  /** Which server, what may happen, and what to set. No secrets. */
  readonly message: string;
}

/** Nodes of a store that has several. Locks can be taken while `up` is at least `needed`. */
export interface NodeCount {
  readonly up: number;
  readonly needed: number;
  readonly total: number;
}

/** How the nodes of a store answered one request. */
export interface QuorumReport {
  /** In words: `2 of 5 nodes granted, 3 were needed`. */
  readonly ended: string;
  readonly nodes: readonly NodeReport[];
}

/** One node's answer to one request. */
export interface NodeReport {
  readonly node: string;
  /** `granted`, `held`, `timeout`, `suspended …`, `quarantined …`, or `error …`. */
  readonly said: string;
}

/** The quorum report of an error, for a store with several nodes. */
export function reportOf(error: unknown): QuorumReport | undefined {
  return (error as { readonly report?: QuorumReport } | null | undefined)?.report;
}

/** ` (2 of 5 nodes granted, 3 were needed; a:1 held, a:2 timeout)`. */
export function inWords(report: QuorumReport | undefined): string {
  if (!report) return '';
  const said = report.nodes.map(({ node, said: words }) => redact(`${node} ${words}`));
  return ` (${report.ended}; ${said.join(', ')})`;
}
