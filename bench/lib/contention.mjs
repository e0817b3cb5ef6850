import { firstLine, now, sleep, within } from './time.mjs';

/** `waiters` requests for one key at once; each holds it for 0 or 1 ms in turn. */
export async function burst(candidate, { waiters, firstId = 0, ...request }) {
  const result = { events: [], failures: [] };
  const one = (index) => turn(candidate, request, { id: firstId + index, hold: index % 2 }, result);
  await Promise.all(Array.from({ length: waiters }, (_, index) => one(index)));
  return result;
}

/** `waiters` workers that take the key again and again for `ms` milliseconds. */
export async function steady(candidate, { waiters, firstId = 0, ms, ...request }) {
  const result = { events: [], failures: [] };
  const end = now() + ms;
  const worker = async (index) => {
    for (let n = index; now() < end && result.failures.length < 200; n++) {
      await turn(candidate, request, { id: firstId + index, hold: n % 2 }, result);
    }
  };
  await Promise.all(Array.from({ length: waiters }, (_, index) => worker(index)));
  return result;
}

/** One request, one hold, one release; the times of each are the event. */
async function turn(candidate, { key, ttl, cap }, { id, hold }, { events, failures }) {
  const requested = now();
  try {
    const acquiring = candidate.acquire(key, { ttl, wait: cap });
    const lock = await within(acquiring, cap + 3_000, 'acquire did not answer');
    const granted = now();
    if (hold) await sleep(hold);
    const event = { id, requested, granted, released: now() };
    events.push(event);
    await lock.release().catch((error) => (event.error = firstLine(error)));
    event.ended = now();
  } catch (error) {
    failures.push(firstLine(error));
  }
}
