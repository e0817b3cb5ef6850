import { show } from '../../core/options/option-values.js';
import { a, aFunction, checkOptions, needed } from '../../core/options/option-rules.js'; // prettier-ignore
import type { OptionRules } from '../../core/options/option-rules.js';
import { optionError } from '../../core/options/option-error.js';
import type { LockService } from '../../core/lock.service.js';
import type { LockAction } from '../api.js';

/** Whom `authorize` lets in. Without an actor they may look and release nothing. */
export type DashboardVisitor = true | { readonly actor: string };

export interface LockDashboardOptions<Request = any> {
  /** Those that are shown. */
  readonly locks: LockService;
  /**
   * Called with each request for the page, its files, its data and its actions. It resolves, or returns, `{ actor }` or `true` to
   * let the request in, and anything that is falsy to answer 403. `'public'` lets every visitor in, and throws in production.
   */
  readonly authorize: 'public' | ((request: Request) => DashboardAnswer | Promise<DashboardAnswer>);
  /**
   * Permitted actions: `['release']` allows to evict holders, by visitors with an actor.
   * @default []
   */
  readonly actions?: readonly LockAction[] | undefined;
  /**
   * Path in front of those of the page, for a plain `http` server. A router of Express takes it off.
   * @default '/'
   */
  readonly path?: string | undefined;
}

type DashboardAnswer = DashboardVisitor | false | null | undefined | '' | 0;

export interface LockDashboardModuleOptions<Request = any> {
  /**
   * Path of the page, below the global prefix.
   * @default 'locks'
   */
  readonly path?: string | undefined;
  /**
   * As in `@UseGuards`: classes or instances, at least one. They guard the page, its files, its data and its actions. `'public'`
   * lets every visitor in, and throws in production.
   */
  readonly guards: 'public' | readonly (Function | object)[];
  /** Returns, or resolves, the name of the person who asks, for the audit. Needed with `actions`. A visitor without one releases nothing. */
  readonly actor?:
    ((request: Request) => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * Permitted actions: `['release']` allows to evict holders.
   * @default []
   */
  readonly actions?: readonly LockAction[] | undefined;
  /**
   * Injection token of the locks that are shown: `getLocksToken('reports')` for those of a named module.
   * @default LockService
   */
  readonly locks?: Function | string | symbol | undefined;
  /** Modules with what the guards need, and with the locks where their module is not global. */
  readonly imports?: readonly unknown[] | undefined;
}

const ACTIONS: readonly unknown[] = ['release'] satisfies LockAction[];
const aPath = a('a path without a query, such as /locks', isPath);
const actions = a("a list of actions: [] or ['release']", isActions);
const isPublic = (value: unknown) => value === 'public';

const RULES: OptionRules<LockDashboardOptions> = {
  locks: needed(a('a LockService', isService)),
  authorize: needed(
    a("a function, or 'public'", (value) => isPublic(value) || typeof value === 'function'),
  ),
  actions,
  path: aPath,
};

const MODULE_RULES: OptionRules<LockDashboardModuleOptions> = {
  path: aPath,
  guards: needed(a("a list of at least one guard, or 'public'", isGuards)),
  actor: aFunction,
  actions,
  locks: a('an injection token: a class, a string or a symbol', isToken),
  imports: a('a list', Array.isArray),
};

/** Throws `TypeError`. */
export function checkDashboard(options: unknown): asserts options is LockDashboardOptions {
  const owner = 'lockDashboard';
  checkOptions(owner, options, RULES, '{ locks, authorize: (request) => … }');
  checkPublic(`${owner}: authorize`, options.authorize);
  if (isPublic(options.authorize) && options.actions?.length) {
    throw optionError(
      `${owner}: actions must be [] with authorize: 'public': no visitor has a name`,
    );
  }
}

/** Throws `TypeError`. */
export function checkModule(options: unknown): asserts options is LockDashboardModuleOptions {
  const owner = 'LockDashboardModule';
  checkOptions(owner, options, MODULE_RULES, '{ guards: [AdminGuard] }');
  checkPublic(`${owner}: guards`, options.guards);
  if (options.actions?.length && !options.actor) {
    throw optionError(`${owner}: actor must be a function where actions are allowed, got ${show(options.actor)}`); // prettier-ignore
  }
}

function checkPublic(option: string, value: unknown): void {
  if (!isPublic(value) || process.env['NODE_ENV'] !== 'production') return;
  throw optionError(`${option} must not be 'public' where NODE_ENV is production: every visitor would see the keys`); // prettier-ignore
}

function isService(value: unknown): boolean {
  const { events, list, held } = (value ?? {}) as Partial<LockService>;
  return typeof events?.on === 'function' && typeof list === 'function' && typeof held === 'function'; // prettier-ignore
}

function isActions(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => ACTIONS.includes(each));
}

function isGuards(value: unknown): boolean {
  if (isPublic(value)) return true;
  const isGuard = (each: unknown) =>
    typeof each === 'function' || (typeof each === 'object' && each !== null);
  return Array.isArray(value) && value.length > 0 && value.every(isGuard);
}

function isToken(value: unknown): boolean {
  return ['function', 'string', 'symbol'].includes(typeof value);
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && /^[^?#*:{}()]*$/.test(value);
}
