import assert from 'node:assert/strict';
import { aRequest, Backend } from './backend.js';
import type { ConformanceOptions } from './conformance-options.js';
import { FEATURES, isFeature } from './needs.js';
import type { Check } from './check.js';
import type { ConformanceFeature, Need, Sample } from './needs.js';

/** Why checks of one suite are skipped. */
export class Skips {
  readonly #options: ConformanceOptions;
  readonly #checks: Readonly<Record<string, Check>>;
  readonly #told = new Set<string>();

  constructor(options: ConformanceOptions, checks: Readonly<Record<string, Check>>) {
    this.#options = options;
    this.#checks = checks;
  }

  /** Why the check is skipped, as far as the options of the suite say. */
  known({ needs = [] }: Check): string | undefined {
    for (const need of needs) {
      const reason = this.#refusal(need);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** Why the check is skipped on the stores of the suite. */
  async found(check: Check): Promise<string | undefined> {
    const known = this.known(check);
    const features = (check.needs ?? []).filter(isFeature);
    if (known !== undefined || features.length === 0) return known;
    const { missing } = await sorted(features, this.#options);
    return missing[0] && FEATURES[missing[0]].missing;
  }

  /** Says it once for each reason. For runners that cannot skip a test that runs. */
  tell(reason: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    const feature = Object.entries(FEATURES).find(([, { missing }]) => missing === reason)?.[0];
    const names = Object.entries(this.#checks)
      .filter(([, { needs = [] }]) => needs.some((need) => need === feature))
      .map(([name]) => `\n  ${name}`);
    const advice = feature ? ` (\`lacks: ['${feature}']\` registers them as skipped)` : '';
    console.info(`lockStoreConformance skips checks: ${reason}${advice}${names.join('')}`);
  }

  #refusal(need: Need): string | undefined {
    if (!isFeature(need))
      return this.#options[need] ? undefined : `no \`${need}\` was given to the suite`;
    return this.#options.lacks?.includes(need) ? FEATURES[need].missing : undefined;
  }
}

/** The check that a store has nothing of what it is said to lack. */
export function lackingCheck(options: ConformanceOptions): Check {
  return async () => {
    const { present } = await sorted(options.lacks ?? [], options);
    assert.deepEqual(present, [], 'the store has what `lacks` says it does not have');
  };
}

/** The features that a store has, and those that it lacks. It is one of its own: a check starts with nothing held. */
async function sorted(
  features: readonly ConformanceFeature[],
  options: ConformanceOptions,
): Promise<Record<'present' | 'missing', ConformanceFeature[]>> {
  const found: Record<'present' | 'missing', ConformanceFeature[]> = { present: [], missing: [] };
  const backend = new Backend(options);
  try {
    const store = await backend.store();
    const request = aRequest();
    const sample: Sample = {
      store,
      lease: await backend.hold(store, request),
      inspected: async () => store.inspect?.(request.key),
      handsOff: async () => (await backend.handOff(store, aRequest(), false)) !== undefined,
    };
    for (const each of features)
      found[(await FEATURES[each].isIn(sample)) ? 'present' : 'missing'].push(each);
    return found;
  } finally {
    await backend.close();
  }
}
