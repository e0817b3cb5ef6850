import { ChildProcess } from '../../support/processes/child-process.js';

describe('a process in which a caller waits, on a store in memory', () => {
  it('lives until the wait is over, and then ends by itself', async () => {
    await using own = new ChildProcess('test/core/support/waiting.worker.ts');
    expect(await own.exited).toEqual({ code: 0, signal: null });
    expect(own.messages).toEqual(['granted']);
  });
});
