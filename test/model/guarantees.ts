import { MAJORITY, nameOf } from './quorum-state';
import type { State } from './quorum-state';

/** A token that is handed out now. `state` is that of the moment before. */
export interface Grant {
  readonly state: State;
  readonly acquisition: number;
  readonly token: number;
}

/** Says how a grant breaks it. */
export type Guarantee = (grant: Grant) => string | undefined;

export const everyTokenIsGrantedOnce: Guarantee = ({ state, acquisition, token }) =>
  (state.granted & (1 << token)) !== 0
    ? `${nameOf(acquisition)} gets ${token}, which was granted before`
    : undefined;

/** Holds also when grants expired in between. */
export const laterAcquisitionsGetMore: Guarantee = ({ state, acquisition, token }) => {
  const { floor } = state.acquisitions[acquisition]!;
  return token <= floor
    ? `${nameOf(acquisition)} gets ${token}, and began after ${floor} was granted`
    : undefined;
};

/** Also those that overlap, as long as no key expires between its grant and the answer to the user. */
export const laterGrantsInLeaseGetMore: Guarantee = (grant) =>
  ownsMajority(grant) ? laterGrantsGetMore(grant) : undefined;

/** NOT guaranteed: a client that was paused may hand out a token whose lease is over. */
export const laterGrantsGetMore: Guarantee = ({ state, acquisition, token }) => {
  const largest = 31 - Math.clz32(state.granted);
  return token < largest
    ? `${nameOf(acquisition)} gets ${token} after ${largest} was granted`
    : undefined;
};

/** Of the nodes that it counted: with a straggler's key it would prove nothing. */
function ownsMajority({ state, acquisition }: Grant): boolean {
  const owned = state.nodes.filter(
    ({ owner, links }) => owner === acquisition && links[acquisition]!.isCounted,
  );
  return owned.length >= MAJORITY;
}
