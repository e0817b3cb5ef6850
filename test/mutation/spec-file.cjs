// Runs the tests of one spec file in this process, with Jest's own parts. The modules of lib and the helpers of the tests are loaded
// once; the spec itself anew each time, so that it begins with its own state.
const circus = require('jest-circus');
const { jestExpect } = require('@jest/expect');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({
  config: { fakeTimers: {}, rootDir: process.cwd() },
  global: globalThis,
});

/** Gives this process the globals of a spec. */
exports.installGlobals = () => {
  const { describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = circus;
  Object.assign(globalThis, { describe, it, test, beforeAll, beforeEach, afterAll, afterEach });
  globalThis.expect = jestExpect;
  globalThis.jest = {
    fn: mocker.fn.bind(mocker),
    spyOn: mocker.spyOn.bind(mocker),
    replaceProperty: mocker.replaceProperty.bind(mocker),
    restoreAllMocks: () => mocker.restoreAllMocks(),
    useFakeTimers: (options) => timers.useFakeTimers(options),
    useRealTimers: () => timers.useRealTimers(),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    getTimerCount: () => timers.getTimerCount(),
    setSystemTime: (now) => timers.setSystemTime(now),
    setTimeout: () => {}, // each test has a bound of its own here
  };
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => running?.fail(error));
  }
};

/** The run under way, which is told of uncaught errors. */
let running;

/**
 * Runs the tests of a spec file that `isChosen` names, with `boundOf(name)` ms each and `hookBound` for what is before and
 * after it, until one fails or `isOver()`. Resolves what became
 * of each that ran: `{ name, ms, error?, isTimeout }`. `onTest(name)` hears of each test before it starts, and of `undefined` after it.
 */
exports.runSpec = async (
  file,
  { isChosen, boundOf, hookBound, onTest, isOver = () => false, bail = true },
) => {
  const results = [];
  let current;
  const failures = [];
  running = { fail: (error) => (current ? current.errors.push(error) : failures.push(error)) };
  const handle = (event) => {
    if (event.name === 'run_start') {
      circus.getState().testTimeout = hookBound;
      choose(circus.getState().rootDescribeBlock, isChosen);
      onTest(undefined);
    }
    if (event.name === 'test_start') {
      current = event.test;
      current.timeout = boundOf(nameOf(event.test));
      if ((bail && results.some(({ error }) => error)) || isOver()) event.test.mode = 'skip';
      else onTest(nameOf(event.test));
    }
    if (event.name === 'test_done') {
      onTest(undefined);
      current = undefined;
      results.push(resultOf(event.test));
    }
  };
  circus.resetState();
  circus.addEventHandler(handle);
  try {
    delete require.cache[file];
    const wrong = loadingError(file);
    if (wrong !== undefined) return [{ name: '', ms: 0, error: wrong, isTimeout: false }];
    const { unhandledErrors } = await circus.run();
    const [error] = [...unhandledErrors, ...failures];
    if (error) results.push({ name: '', ms: 0, error: String(error), isTimeout: false });
  } finally {
    circus.removeEventHandler(handle);
    running = undefined;
    mocker.restoreAllMocks();
    timers.useRealTimers();
  }
  return results.filter(({ isSkipped }) => !isSkipped);
};

function loadingError(file) {
  try {
    require(file);
    return undefined;
  } catch (error) {
    return `The spec cannot be loaded: ${textOf(error)}`;
  }
}

function choose(block, isChosen) {
  for (const child of block.children) {
    if (child.type === 'describeBlock') choose(child, isChosen);
    else if (!isChosen(nameOf(child))) child.mode = 'skip';
  }
}

function nameOf(test) {
  const names = [];
  for (let at = test; at?.parent; at = at.parent) names.unshift(at.name);
  return names.join(' ');
}

function resultOf(test) {
  const error = test.errors.length > 0 ? textOf(test.errors[0]) : undefined;
  const ms = test.duration ?? 0;
  const isTimeout = error?.includes('Exceeded timeout of') ?? false;
  return { name: nameOf(test), ms, error, isTimeout, isSkipped: test.mode === 'skip' };
}

function textOf(failure) {
  const error = Array.isArray(failure) ? (failure[0] ?? failure[1]) : failure;
  return String(error?.message ?? error) || 'an error without a text'; // a test may fail with `throw undefined`
}
