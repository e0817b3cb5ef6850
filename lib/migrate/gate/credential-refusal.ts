import { isObject } from '../../core/contract/fields.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { reportOf } from '../../core/contract/store-notices.js';

/** Errors in errors. */
const DEEPEST = 5;

/** Redis; etcd; ZooKeeper with SASL. */
const TEXTS = /\b(WRONGPASS|NOAUTH|AUTH_FAILED)\b|invalid (user ID or password|auth token)|user name not found/; // prettier-ignore
/** PostgreSQL: invalid password, invalid authorisation; MySQL and MariaDB: access denied, account locked. */
const CODES: ReadonlySet<unknown> = new Set(['28P01', '28000', 'ER_ACCESS_DENIED_ERROR', 'ER_ACCOUNT_HAS_BEEN_LOCKED']); // prettier-ignore

/**
 * Whether a store failed because its server does not know the credential any more. That a command or a key is forbidden is no such
 * refusal: others may be allowed. Of several nodes, enough have to refuse to leave no majority.
 */
export function isCredentialRefusal(error: unknown): boolean {
  return isRefusal(error, DEEPEST);
}

function isRefusal(error: unknown, depth: number): boolean {
  if (!isObject(error) || depth === 0) return TEXTS.test(String(error));
  const report = reportOf(error);
  if (report) {
    const { nodes } = report;
    const refused = nodes.filter(({ said }) => TEXTS.test(said));
    return nodes.length - refused.length < Math.floor(nodes.length / 2) + 1;
  }
  const { cause, errors, code } = error;
  if (CODES.has(code) || TEXTS.test(reasonOf(error))) return true;
  if (cause !== undefined && isRefusal(cause, depth - 1)) return true;
  return Array.isArray(errors) && errors.length > 0 && errors.every((each) => isRefusal(each, depth - 1)); // prettier-ignore
}
