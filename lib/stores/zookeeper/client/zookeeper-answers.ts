import { fieldsOf, isObject } from '../../../core/contract/fields.js';
import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import type { Stat } from './zookeeper-client.js';

/* Whether the client returned what was asked for. After any other answer it is unknown what the server has done. */

/** For a node that was created as `path`, to which the server may have appended a number. */
export function checkPath(path: string): (answer: unknown) => void {
  return (answer) => {
    if (typeof answer !== 'string' || !answer.startsWith(path))
      throw new UnknownAnswerError('the path of the node', answer);
  };
}

/** For a transaction of so many operations. */
export function checkResults(count: number): (answer: unknown) => void {
  return (answer) => {
    if (!Array.isArray(answer) || answer.length !== count || !answer.every(isObject))
      throw new UnknownAnswerError(`the results of ${count} operations`, answer);
  };
}

export function checkNames(answer: unknown): void {
  if (!Array.isArray(answer) || !answer.every((name) => typeof name === 'string'))
    throw new UnknownAnswerError('the names of nodes', answer);
}

export function checkStat(answer: unknown): asserts answer is Stat {
  const { czxid, mzxid, pzxid, ctime, ephemeralOwner, ...counts } = fieldsOf(answer);
  const areNumbers = [czxid, mzxid, pzxid, ctime, ephemeralOwner].every(
    (id) => Buffer.isBuffer(id) && id.length === 8,
  );
  const { version, cversion, numChildren } = counts;
  if (!areNumbers || ![version, cversion, numChildren].every(Number.isInteger))
    throw new UnknownAnswerError('what ZooKeeper knows of the node', answer);
}

/** For the children of a node, and the node's status. */
export function checkChildren(answer: unknown): void {
  const { names, stat } = fieldsOf(answer);
  checkNames(names);
  checkStat(stat);
  if (stat.numChildren !== (names as readonly string[]).length)
    throw new UnknownAnswerError(`the names of ${stat.numChildren} nodes`, names);
}

export function checkNode(answer: unknown): void {
  const { data, stat } = fieldsOf(answer);
  if (!Buffer.isBuffer(data)) throw new UnknownAnswerError('the bytes of the node', data);
  checkStat(stat);
}

/** For an answer without content. */
export function checkNothing(): void {}
