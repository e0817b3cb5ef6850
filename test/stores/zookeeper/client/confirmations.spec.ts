import { Confirmations } from '../../../../lib/stores/zookeeper/client/confirmations.js';

const PING = 250;

describe('What the leader of ZooKeeper must have heard of', () => {
  function connectedAt(time: number) {
    const confirmations = new Confirmations();
    confirmations.connected(time);
    return {
      confirmations,
      answer: (now: number, monotonic = now) => confirmations.answered({ now, monotonic }, PING),
    };
  }

  it('is a connection, and no write until one was answered that was sent a ping later', () => {
    const { confirmations, answer } = connectedAt(100);
    answer(110);
    answer(359);
    expect(confirmations.since).toBe(100);
    answer(360);
    expect(confirmations.since).toBe(110);
    answer(609);
    expect(confirmations.since).toBe(110);
    answer(610);
    expect(confirmations.since).toBe(360);
  });

  it('goes on with writes that follow each other closely', () => {
    const { confirmations, answer } = connectedAt(0);
    for (let time = 0; time <= 10_000; time += 10) {
      answer(time);
      expect(confirmations.since).toBeGreaterThanOrEqual(time - 2 * PING);
      expect(confirmations.since).toBeLessThanOrEqual(Math.max(0, time - PING));
    }
  });

  it('is no write that was sent a ping later only by a wall clock which was set forward', () => {
    const { confirmations, answer } = connectedAt(100);
    answer(110);
    answer(5_110, 120);
    expect(confirmations.since).toBe(100);
    answer(5_350, 360);
    expect(confirmations.since).toBe(110);
  });

  it('is no write of a connection that was lost', () => {
    const { confirmations, answer } = connectedAt(0);
    answer(10);
    confirmations.connected(5);
    answer(900);
    expect(confirmations.since).toBe(5);
    answer(1_150);
    expect(confirmations.since).toBe(900);
  });
});
