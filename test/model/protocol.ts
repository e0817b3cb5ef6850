/** The rules of the nodes and of the clients. */
export interface Protocol {
  /** Without a majority for exactly T, T is written back to the nodes, and a majority must confirm. */
  readonly writeBack: boolean;
  /** A node confirms only to the owner of the key. */
  readonly ownershipCheck: boolean;
  /** A node whose counter is beyond T does not confirm. */
  readonly counterCheck: boolean;
  /** A node that returned exactly T counts as confirmed and is not asked again. */
  readonly trustsExactReplies: boolean;
  /** A node whose grant came after the decision may confirm, too. */
  readonly stragglersConfirm: boolean;
  /** How many further tokens a holder reserves. */
  readonly reserve: number;
}

/** The limits of the search. */
export interface Bounds {
  /** How many acquisitions are under way at once. */
  readonly clients: number;
  readonly acquisitions: number;
  /** The times that a client's clock may show. Each acquisition has one of these; clocks need not agree. */
  readonly hints: readonly number[];
  /** The possible counters of the nodes at the start. */
  readonly starts: readonly (readonly number[])[];
  /** The acquiring commands of so many acquisitions may be executed again, the second reply unseen. */
  readonly resends: number;
}
