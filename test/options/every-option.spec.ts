import { exportedBags } from './exported-options';
import { NO_OPTIONS, TAKERS } from './option-takers';
import type { OptionTaker } from './option-takers';

const bags = exportedBags();
const cases = bags.flatMap((bag) =>
  (TAKERS[bag.name] ?? []).map(
    (taker, index) => [`${bag.name}, taker ${index + 1}`, bag, taker] as const,
  ),
);

async function refusalOf(
  { take, needs }: OptionTaker,
  options: object,
  ofItsClass = {},
): Promise<unknown> {
  try {
    await take(Object.assign(Object.create(ofItsClass) as object, needs, options) as never);
  } catch (error) {
    return error;
  }
  return undefined;
}

it('every type of options that the package exports has a taker here', () => {
  const known = [...Object.keys(TAKERS), ...NO_OPTIONS];
  expect(known.toSorted()).toEqual(bags.map(({ name }) => name).toSorted());
});

describe.each(cases)('%s', (_, bag, taker) => {
  it('refuses an unknown option', async () => {
    expect(await refusalOf(taker, { unheardOf: 1 })).toMatchObject({
      name: 'TypeError',
      code: 'LOCK_OPTION_INVALID',
      message: expect.stringMatching(/unknown .*option "unheardOf"; known options are /),
    });
  });

  it('knows what it admits', () => expect(bag.options).not.toEqual([]));

  it('ignores none that its class gives', async () => {
    for (const { option, value } of bag.wrong) {
      if (Object.hasOwn(taker.needs ?? {}, option)) continue;
      const refusal = await refusalOf(taker, {}, { [option]: value });
      expect({ option, refusal }).toMatchObject({ refusal: { code: 'LOCK_OPTION_INVALID' } });
    }
  });

  it.each(bag.wrong)('refuses $kind as $option', async ({ option, value }) => {
    expect(await refusalOf(taker, { [option]: value })).toMatchObject({
      name: expect.stringMatching(/^(TypeError|RangeError)$/),
      code: 'LOCK_OPTION_INVALID',
      message: expect.stringMatching(new RegExp(`\\b${option}\\b.* (got|is) `)),
    });
  });
});
