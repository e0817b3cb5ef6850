import { CounterTrial } from '../../../../lib/stores/redis/keys/counter-trial.js';
import { BESIDE, ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
import { rejectionOf } from '../../../core/support/outcome.js';

describe('The first lock of a store', () => {
  let keys: ServerKeys;
  let trial: CounterTrial;
  /** The counters of the calls. */
  let asked: string[];

  beforeEach(() => {
    keys = new ServerKeys('lock:', '', true);
    trial = new CounterTrial(keys);
    asked = [];
  });

  /** Each call fails with the next of the errors. */
  function lock(...errors: (string | undefined)[]): Promise<string> {
    return trial.run(async () => {
      asked.push(keys.with(BESIDE, ['a'])[1]!);
      const error = errors.shift();
      if (error !== undefined) throw new Error(error);
      return 'granted';
    });
  }

  it('shows that locks may share counters, where it succeeds', async () => {
    expect(await lock()).toBe('granted');
    expect(trial.isOver).toBe(true);
    expect(await rejectionOf(lock('CROSSSLOT later'))).toMatchObject({
      message: 'CROSSSLOT later',
    });
    expect(asked.map((name) => /mark/.test(name))).toEqual([true, true]);
  });

  it('is asked for once more with a counter of its own, where the server refuses keys of two slots', async () => {
    expect(await lock("CROSSSLOT Keys in request don't hash to the same slot")).toBe('granted');
    expect(asked).toEqual([expect.stringContaining('mark'), '{lock:a}:fence']);
    expect(trial.isOver).toBe(true);
  });

  it('shows nothing where it fails in another way', async () => {
    expect(await rejectionOf(lock('LOADING'))).toMatchObject({ message: 'LOADING' });
    expect(trial.isOver).toBe(false);
    expect(await lock('CROSSSLOT')).toBe('granted');
  });
});
