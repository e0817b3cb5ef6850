import { RedisFencingGate } from 'nest-holdfast/fencing';
import { LeaderElection } from 'nest-holdfast/core';
import type { LeaderTerm } from 'nest-holdfast/core';
import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';

export type LeaderMessage =
  | { readonly event: 'ready' | 'jeopardy' | 'resigned' | 'lost' | 'failed' }
  | { readonly event: 'elected'; readonly token: string }
  | { readonly event: 'written'; readonly outcome: string }
  /** The state of the term, as the first code after a long pause saw it. */
  | { readonly event: 'resumed'; readonly isLeader: boolean; readonly aborted: boolean; readonly assertHeld: string }; // prettier-ignore

/** Writes with the token of the last term, whether it is over or not. */
export type LeaderCommand = 'resign' | 'write';

const [url, ttl] = process.argv.slice(2) as [string, string];
const channel = openChannel<LeaderMessage, LeaderCommand>();
const own = new RedisLocks(url, { storeTimeout: 2_000 });
const gate = new RedisFencingGate(own.redis);
const election = new LeaderElection(own.locks, 'scheduler', { ttl: Number(ttl), pause: 200 });
let last: LeaderTerm | undefined;
let token: bigint;

election.events.on('elected', (term) => {
  last = term;
  token = term.fencingToken;
  channel.send({ event: 'elected', token: String(token) });
});
for (const event of ['jeopardy', 'resigned', 'lost', 'failed'] as const) {
  election.events.on(event, () => channel.send({ event }));
}
channel.onMessage((command) => {
  if (command === 'resign') void election.resign();
  else void write();
});

async function write(): Promise<void> {
  const holder = { key: 'leader:scheduler', fencingToken: token };
  const written = gate.call(holder, '{leader}:journal', 'RPUSH', String(token));
  const outcome = await written.then(
    () => 'written',
    ({ code }: { code: string }) => code,
  );
  channel.send({ event: 'written', outcome });
}

let before = performance.now();
setInterval(() => {
  const pause = performance.now() - before;
  before = performance.now();
  if (pause < Number(ttl) || !last) return;
  const { isLeader } = last;
  const { aborted } = last.signal;
  channel.send({ event: 'resumed', isLeader, aborted, assertHeld: outcomeOf(last) });
}, 10);

function outcomeOf(term: LeaderTerm): string {
  try {
    term.assertHeld();
    return 'held';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

election.start();
channel.send({ event: 'ready' });
