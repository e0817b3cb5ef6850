// Bundlers drop an unused module, as package.json says `sideEffects: false`. They cannot drop a part of the one file
// that many modules become, unless what a constant is made of is marked as pure.
import { parseAst } from 'rolldown/parseAst';

const MARK = '/* @__PURE__ */ ';
const IS_CALL = /^(?:Call|New)Expression$/;
const IS_LATER = /Function|^(?:Method|Property)Definition$/;

/** The code with a mark before every call that makes a constant of the module. Lines stay where they are. */
export function withPureMarks(code) {
  const constants = parseAst(code).body.flatMap((statement) => {
    const declared = statement.declaration ?? statement;
    return declared.type === 'VariableDeclaration' && declared.kind === 'const' ? [declared] : [];
  });
  const starts = constants.flatMap((constant) => callsIn(constant)).toSorted((a, b) => a - b);
  const parts = [0, ...starts].map((start, index) => code.slice(start, starts[index]));
  return parts.join(MARK);
}

/** Where the calls begin that run at once. Several begin at one place: `a().b()`. */
function callsIn(node) {
  const starts = new Set();
  visit(node);
  return [...starts];

  function visit(part) {
    if (typeof part?.type !== 'string' || IS_LATER.test(part.type)) return;
    if (IS_CALL.test(part.type)) starts.add(part.start);
    for (const value of Object.values(part)) [value].flat().forEach(visit);
  }
}
