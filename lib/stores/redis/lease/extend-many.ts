import type { Lease } from '../../../core/contract/lock-store.js';
import { isOfOneKey } from '../../../redis-client/driver-error.js';
import { RedisLease } from './redis-lease.js';
import { EXTEND_MANY } from '../lua/lease-scripts.js';
import { asList, asNumber, asText, isOne, unknownReply } from '../lua/replies.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { LARGEST_CALL } from '../send/call-batcher.js';

/** Leases of one key each, with the script's arguments for them. */
interface Call {
  readonly leases: Lease[];
  readonly keys: string[];
  readonly args: (string | number)[];
}

/**
 * `LockStore.extendMany` on one server: one command and one answer for a hundred leases of one exclusive key each
 * (`bench/renewal.mjs`).
 */
export async function extendMany(
  runner: ScriptRunner,
  leases: readonly Lease[],
  ttl: number,
): Promise<ReadonlyMap<Lease, unknown>> {
  const exceptions = new Map<Lease, unknown>();
  const asked: Promise<void>[] = [];
  let call: Call | undefined;
  for (const lease of leases) {
    const held = lease instanceof RedisLease ? lease.ofOneKey : undefined;
    if (!held) {
      asked.push(extendOne(lease, ttl, exceptions));
      continue;
    }
    call ??= { leases: [], keys: [], args: [ttl] };
    call.leases.push(lease);
    call.keys.push(held.keys[0]!);
    call.args.push(held.value);
    if (call.leases.length < LARGEST_CALL) continue;
    asked.push(send(runner, call, ttl, exceptions));
    call = undefined;
  }
  if (call) asked.push(send(runner, call, ttl, exceptions));
  await Promise.all(asked);
  return exceptions;
}

async function send(
  runner: ScriptRunner,
  { leases, keys, args }: Call,
  ttl: number,
  exceptions: Map<Lease, unknown>,
): Promise<void> {
  try {
    const answer = await runner.change(EXTEND_MANY, keys, args, asExceptions);
    for (const [place, error] of answer) exceptions.set(leaseAt(leases, place), error);
  } catch (error) {
    if (leases.length > 1 && isOfOneKey(error))
      await Promise.all(leases.map((lease) => extendOne(lease, ttl, exceptions)));
    else for (const lease of leases) exceptions.set(lease, error);
  }
}

async function extendOne(
  lease: Lease,
  ttl: number,
  exceptions: Map<Lease, unknown>,
): Promise<void> {
  try {
    if (!(await lease.extend(ttl))) exceptions.set(lease, false);
  } catch (error) {
    exceptions.set(lease, error);
  }
}

/** The leases that were not extended, by their places from 1 on. */
function asExceptions(reply: unknown): [place: number, error: false | Error][] {
  if (!Array.isArray(reply)) {
    if (isOne(reply)) return [];
    throw unknownReply('1 or a list', reply);
  }
  return reply.map((each) => {
    const [place, text] = asList(each, 2);
    return [asNumber(place), text === '' ? false : new Error(asText(text))];
  });
}

function leaseAt(leases: readonly Lease[], place: number): Lease {
  const lease = leases[place - 1];
  if (!lease) throw unknownReply('the place of a lease', place);
  return lease;
}
