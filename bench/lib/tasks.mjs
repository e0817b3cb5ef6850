import { firstLine } from './time.mjs';

/** Does what the process that has started this one asks for, by the name of the task; see workers.mjs. */
export function answer(tasks) {
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ id, task, args }) => {
    const reply = await tasks[task](args).then(
      (value) => ({ value }),
      (error) => ({ error: firstLine(error) }),
    );
    process.send({ id, ...reply });
  });
}
