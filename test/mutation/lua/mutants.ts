/** A line of a script, and what a mutant has in its place. */
export interface Mutant {
  readonly line: string;
  readonly mutated: string;
}

interface Node {
  readonly type: string;
  readonly range: readonly [start: number, end: number];
  readonly operator?: string;
  readonly left?: Node;
  readonly right?: Node;
  readonly base?: Node;
  readonly expression?: Node;
  readonly arguments?: readonly Node[];
  readonly raw?: string;
}

/** A part of the source and its replacement. */
type Edit = readonly [start: number, end: number, text: string];

const luaparse = require('luaparse') as { parse(source: string, options: object): Node };

/** Comparisons lose or gain their limit, or are turned round; sums and products are turned round. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '==': ['~='],
  '~=': ['=='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  and: ['or'],
  or: ['and'],
};
const CALLS = /^(redis\.)?p?call$/;
/** Conditions and units of commands, and those in their place. */
const CONDITIONS: Readonly<Record<string, string>> = {
  "'NX'": "'XX'",
  "'PX'": "'EX'",
  "'EX'": "'PX'",
};

/** Each comparison, each operation, each condition of a command changed; each command whose answer is not used left out. */
export function mutantsOf(source: string): Mutant[] {
  const edits: Edit[] = [];
  const root = luaparse.parse(source, { luaVersion: '5.1', comments: false, ranges: true });
  visit(root, (node) => edits.push(...editsOf(node, source)));
  return edits.map((edit) => asMutant(source, edit));
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see);
  if (typeof node !== 'object' || node === null || !('type' in node)) return;
  see(node as Node);
  for (const part of Object.values(node)) visit(part, see);
}

function editsOf(node: Node, source: string): Edit[] {
  const { type, operator, left, right } = node;
  const [start, end] = node.range;
  if (operator && left && right) {
    const [from, to] = [left.range[1], right.range[0]];
    const place = from + source.slice(from, to).search(/[^\s)]/);
    return (OPERATORS[operator] ?? []).map((other) => [place, place + operator.length, other]);
  }
  if (type === 'UnaryExpression' && operator === 'not') return [[start, start + 4, '']];
  if (type === 'StringLiteral' && CONDITIONS[node.raw!])
    return [[start, end, CONDITIONS[node.raw!]!]];
  if (type === 'CallStatement' && isCommand(node.expression!, source))
    return [[start, end, 'do end']];
  return [];
}

function isCommand({ base }: Node, source: string): boolean {
  return base !== undefined && CALLS.test(source.slice(...base.range));
}

/** By its whole line, so that a part that several scripts share is changed in all of them at once. */
function asMutant(source: string, [start, end, text]: Edit): Mutant {
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const next = source.indexOf('\n', end);
  const to = next < 0 ? source.length : next;
  return {
    line: source.slice(from, to),
    mutated: source.slice(from, start) + text + source.slice(end, to),
  };
}

/** The source with the mutated line, wherever it has the line. */
export function withMutant(source: string, { line, mutated }: Mutant): string {
  return source.replaceAll(line, () => mutated);
}
