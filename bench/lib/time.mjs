import { setTimeout as sleep } from 'node:timers/promises';

export { sleep };

/** Monotonic milliseconds that can be compared between the processes of one machine. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Rejects with `message` when `promise` has not settled after `ms`. */
export function within(promise, ms, message) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export const firstLine = (error) => String(error?.message ?? error).split('\n')[0];
