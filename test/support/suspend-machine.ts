import { systemClock } from '../../lib/core/async/clock.js';

/**
 * As when the machine wakes up from a suspension of `ms`: from now on `systemClock` is ahead by so much, and what has a
 * shorter ttl by it has expired. Takes no time.
 */
export function suspendMachine(ms: number): void {
  const wallClock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
  systemClock.now();
  wallClock.mockRestore();
}
