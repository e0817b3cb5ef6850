import { problemsOf } from '../readme/support/compile.js';

/** The mistake, a call with it, and the compiler's message. */
const WRONG: readonly (readonly [what: string, call: string, says: string])[] = [
  [
    'an unknown option',
    "lockRequest('order:<params.id>', { locks, waitTimout: 5 })",
    "'waitTimout' does not exist in type 'LockRequestOptions'. Did you mean to write 'waitTimeout'?",
  ],
  [
    'an unknown option beside a function',
    'lockRequest((request) => String(request.headers), { locks, wait: 5 })',
    "'wait' does not exist in type 'LockRequestOptions'.",
  ],
  [
    'an option of the wrong type',
    "lockRequest('a', { locks, ttl: '5s' })",
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    'no service',
    "lockRequest('a', {})",
    "Property 'locks' is missing in type '{}' but required in type 'LockRequestOptions'.",
  ],
  ['no options', "lockRequest('a')", 'Expected 2 arguments, but got 1.'],
  [
    'a function that returns a number',
    'lockRequest(() => 42, { locks })',
    "Type 'number' is not assignable to type 'LockKeys'.",
  ],
  [
    'a function of something else',
    'lockRequest((id: number) => `${id}`, { locks })',
    "Type 'ExpressRequest' is not assignable to type 'number'.",
  ],
  [
    'a key that is a number',
    'lockRequest(42, { locks })',
    "Argument of type 'number' is not assignable to parameter of type 'RequestKey'.",
  ],
  [
    'an unknown property',
    'lockRequest((request) => request.params.id, { locks })',
    "'request.params' is of type 'unknown'.",
  ],
];

const RIGHT = [
  "app.get('/:id', lockRequest('order:<params.id>', { locks }), (request) => void request.params.id.at(0))",
  "app.get('/:id', lockRequest(['a', 'b'] as const, { locks }), (request) => void request.params.id.at(0))",
  'app.get("/:id", lockRequest(() => "a", { locks }), (request) => void request.params.id.at(0))',
  'app.get("/:id", lockRequest((request: express.Request<{ id: string }>) => request.params.id, { locks }))',
  'app.use(lockRequest((request) => [String(request.headers), "b"], { locks, onError: "respond" }))',
  'app.use(lockRequest(Math.random() > 0.5 ? "a" : ["a", "b"], { locks }))',
];

const IMPORTS =
  "import express from 'express';\nimport { lockRequest } from 'nest-holdfast/express';\nconst app = express();\n";

/** The compiler's messages, by statement. */
function messagesFor(statements: readonly string[]): string[] {
  const blocks = statements.map((statement, index) => ({
    page: 'test/express/snippet',
    heading: `snippet ${index}`,
    line: index,
    language: 'ts',
    marks: [],
    code: `${IMPORTS}${statement};\n`,
  }));
  const problems = problemsOf(blocks);
  return blocks.map(({ heading }) =>
    problems.filter((problem) => problem.includes(`(${heading}): `)).join('\n'),
  );
}

describe('The message of the compiler about lockRequest with', () => {
  let messages: string[];

  beforeAll(() => {
    messages = messagesFor([...WRONG.map(([, call]) => call), ...RIGHT]);
  });

  it.each(WRONG.map((each, index) => [...each, index] as const))('%s', (_what, _, says, index) => {
    expect(messages[index]).toContain(says);
    expect(messages[index]).not.toContain('No overload matches');
  });

  it('correct calls: none', () => {
    expect(messages.slice(WRONG.length)).toEqual(RIGHT.map(() => ''));
  });
});
