import { firstLine } from './time.mjs';

/** Rejections and exceptions that a library let escape: reported in the tables, where they would have ended a service. */
export const stray = { count: 0, last: '' };

for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (error) => {
    stray.count++;
    stray.last = firstLine(error);
  });
}
