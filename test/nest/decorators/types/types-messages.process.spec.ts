import { problemsOf } from '../../../readme/support/compile.js';

/** The mistake, a class member with it, and the compiler's message. */
const WRONG: readonly (readonly [what: string, member: string, says: string])[] = [
  [
    'a method that returns at once',
    "@DistributedLock('x') pay(id: string) { return id; }",
    '["a locked method must return a promise, an Observable or an async iterable, not", string]',
  ],
  [
    'a method that returns nothing, with a permit',
    "@Semaphore('x', { permits: 5 }) pay(id: string) {}",
    '["a locked method must return a promise, an Observable or an async iterable, not", void]',
  ],
  [
    'a key function that takes something else',
    '@DistributedLock((id: number) => `${id}`) async pay(id: string) {}',
    '["the key function cannot be called with the arguments of the method", [id: string]]',
  ],
  [
    'a key function that takes more',
    '@Semaphore((id: string, n: number) => id + n, { permits: 5 }) async pay(id: string) {}',
    '["the key function cannot be called with the arguments of the method", [id: string]]',
  ],
  [
    'a key function that needs what is optional',
    '@DistributedLock((id: string) => id) async pay(id?: string) {}',
    'the key function cannot be called with the arguments of the method',
  ],
  [
    'a key function that returns a number',
    '@DistributedLock((id: number) => id) async pay(id: number) {}',
    "Type 'number' is not assignable to type 'LockKeys'.",
  ],
  [
    'a key function that returns a promise',
    '@DistributedLock(async (id: string) => id) async pay(id: string) {}',
    "Type 'Promise<string>' is not assignable to type 'LockKeys'.",
  ],
  [
    'a key function without types',
    '@DistributedLock((order) => order.id) async pay(order: { id: string }) {}',
    "'order' is of type 'unknown'.",
  ],
  [
    'an unknown option',
    "@DistributedLock('x', { tll: 1_000 }) async pay() {}",
    "'tll' does not exist in type 'DistributedLockOptions'.",
  ],
  [
    'an unknown option beside a key function',
    '@Semaphore((id: string) => id, { permits: 5, tll: 1_000 }) async pay(id: string) {}',
    "'tll' does not exist in type 'SemaphoreOptions'.",
  ],
  [
    'an option of the wrong type',
    "@DistributedLock('x', { ttl: '10s' }) async pay() {}",
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    'an unknown mode',
    "@DistributedLock('x', { mode: 'shared' }) async pay() {}",
    "Type '\"shared\"' is not assignable to type 'LockMode | undefined'.",
  ],
  [
    'no permits',
    "@Semaphore('x', {}) async pay() {}",
    "Property 'permits' is missing in type '{}' but required in type 'SemaphoreOptions'.",
  ],
  [
    'a mode of a semaphore',
    "@Semaphore('x', { permits: 5, mode: 'read' }) async pay() {}",
    "'mode' does not exist in type 'SemaphoreOptions'.",
  ],
  [
    'a tick of a method that returns at once',
    "@OncePerTick('x', { every: 1_000 }) pay() { return 1; }",
    "Type 'number' is not assignable to type 'Promise<unknown>'.",
  ],
  [
    'an unknown option of a tick',
    "@OncePerTick('x', { evry: 1_000 }) async pay() {}",
    "'evry' does not exist in type 'OncePerTickOptions'. Did you mean to write 'every'?",
  ],
  [
    'a candidate that takes something else',
    "@OnElected('x') async pay(id: string) {}",
    "Type 'LeaderTerm' is not assignable to type 'string'.",
  ],
  [
    'an unknown option of a candidate',
    "@OnElected('x', { tll: 1_000 }) async pay() {}",
    "'tll' does not exist in type 'OnElectedOptions'.",
  ],
];

const IMPORTS =
  "import { DistributedLock, OnElected, OncePerTick, Semaphore } from 'nest-holdfast';\n";

/** The compiler's messages, by class member. */
function messagesFor(members: readonly string[]): string[] {
  const blocks = members.map((member, index) => ({
    page: 'test/nest/snippet',
    heading: `snippet ${index}`,
    line: index,
    language: 'ts',
    marks: [],
    code: `${IMPORTS}class Snippet { ${member} }\n`,
  }));
  const problems = problemsOf(blocks);
  return blocks.map(({ heading }) =>
    problems.filter((problem) => problem.includes(`(${heading}): `)).join('\n'),
  );
}

describe('The message of the compiler about', () => {
  let messages: string[];

  beforeAll(() => {
    messages = messagesFor([
      ...WRONG.map(([, member]) => member),
      "@DistributedLock('order:<id>', { mode: 'read' }) async pay(id: string) {}",
    ]);
  });

  it.each(WRONG.map((each, index) => [...each, index] as const))('%s', (_what, _, says, index) => {
    expect(messages[index]).toContain(says);
    expect(messages[index]).not.toContain('No overload matches');
  });

  it('correct members: none', () => {
    expect(messages.at(-1)).toBe('');
  });
});
