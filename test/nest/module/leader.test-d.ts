// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
/* eslint-disable no-unused-vars, typescript/no-unused-expressions -- only the types matter */
import type { LockService } from 'nest-holdfast';
import { FencingGate } from 'nest-holdfast/fencing';
import { LeaderElection } from 'nest-holdfast/core';
import type { LeaderTerm } from 'nest-holdfast/core';
import { OnElected } from 'nest-holdfast';

class Accepted {
  @OnElected('scheduler')
  async lead(term: LeaderTerm) {
    await new FencingGate().run(term, () => {});
  }

  @OnElected('scheduler', { ttl: 10_000, pause: 500, gracePeriod: 0, locks: 'billing' })
  withoutTerm() {}
}

class Refused {
  // @ts-expect-error -- it is called with a term
  @OnElected('scheduler')
  wrongParameter(name: string) {}

  // @ts-expect-error -- and with nothing else
  @OnElected('scheduler')
  secondParameter(term: LeaderTerm, name: string) {}

  // @ts-expect-error -- a candidate waits as long as it takes
  @OnElected('scheduler', { waitTimeout: 5 })
  unknownOption() {}

  // @ts-expect-error -- the method is what is called
  @OnElected('scheduler', { onElected: () => {} })
  twoMethods() {}

  // @ts-expect-error -- an election has a name
  @OnElected()
  nameless() {}
}

declare const locks: LockService;
const election = new LeaderElection(locks, 'x', { onElected: ({ fencingToken }) => fencingToken });
election.events.on('jeopardy', (term, { error, remaining }) => remaining > 0 && term.signal);
// @ts-expect-error -- no such event
election.events.on('won', () => {});
