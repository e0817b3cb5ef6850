import ts from 'typescript';
import { exportedSymbols } from '../support/exported-symbols.js';

/** Names of options of which none may be missing. */
const OF_OPTIONS = /(Options|Auth|Acl)$/;

/** A value of a kind that an option may not be of. */
export interface WrongValue {
  readonly option: string;
  readonly kind: string;
  readonly value: unknown;
}

/** A type that an entry of the package exports, and one of whose properties may be missing. */
export interface ExportedBag {
  readonly name: string;
  readonly options: readonly string[];
  /** For each option, one value of every kind that its type does not admit. */
  readonly wrong: readonly WrongValue[];
}

/** All exported types that look like options, found by the type checker: a new one cannot be forgotten. */
export function exportedBags(): ExportedBag[] {
  const { checker, entries } = exportedSymbols();
  const symbols = new Map([...entries.values()].flatMap((exported) => [...exported]));
  return [...symbols].flatMap(([name, symbol]) => bagOf(checker, name, symbol) ?? []);
}

function bagOf(checker: ts.TypeChecker, name: string, symbol: ts.Symbol): ExportedBag | undefined {
  if (!(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias))) return undefined;
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return undefined;
  const properties = checker.getPropertiesOfType(type);
  const isBag = properties.some(({ flags }) => flags & ts.SymbolFlags.Optional);
  if (type.getCallSignatures().length > 0 || !(isBag || OF_OPTIONS.test(name))) return undefined;
  const wrong = properties.flatMap((property) => wrongValues(checker, property));
  return { name, options: properties.map((each) => each.name), wrong };
}

function wrongValues(checker: ts.TypeChecker, property: ts.Symbol): WrongValue[] {
  const declared = checker.getTypeOfSymbol(property);
  const type = checker.getBaseConstraintOfType(declared) ?? declared;
  const kinds: readonly [kind: string, is: ts.Type, value: unknown][] = [
    ['a string', checker.getStringType(), '423'],
    ['a number', checker.getNumberType(), 423],
    ['true', checker.getTrueType(), true],
    ['null', checker.getNullType(), null],
    ['a symbol', checker.getESSymbolType(), Symbol('wrong')],
  ];
  return kinds
    .filter(([, is]) => !checker.isTypeAssignableTo(is, type))
    .map(([kind, , value]) => ({ option: property.name, kind, value }));
}
