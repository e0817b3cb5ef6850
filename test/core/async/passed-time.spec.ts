import * as fc from 'fast-check';
import { PassedTime } from '../../../lib/core/async/clock';

/** Milliseconds that a reading of the wall clock may hide: it is read to one, and counts as set back from ten on. */
const BLUR = 12;

/** A machine: its monotonic clock, its time of day, and how long it is kept from running between two readings. */
class Machine {
  monotonic = 5_000;
  wall = 1_800_000_000_000.4;
  pauses: number[] = [];

  readonly passed: PassedTime;

  constructor() {
    jest.spyOn(Date, 'now').mockImplementation(() => this.#read(() => Math.floor(this.wall)));
    jest.spyOn(performance, 'now').mockImplementation(() => this.#read(() => this.monotonic));
    this.passed = new PassedTime();
  }

  /** Time goes on, and the wall clock is slewed by so many parts in a million. */
  pass(ms: number, slew = 0): void {
    this.monotonic += ms;
    this.wall += ms * (1 + slew / 1_000_000);
  }

  #read(clock: () => number): number {
    const value = clock();
    this.pass(this.pauses.shift() ?? 0);
    return value;
  }
}

afterEach(() => void jest.restoreAllMocks());

describe('The time that has passed', () => {
  it('is that of the monotonic clock, to the digit, while the wall clock goes with it', () => {
    const machine = new Machine();
    const start = machine.passed.now();
    expect(start).toBe(machine.monotonic);
    for (let read = 0; read < 1_000; read++) {
      machine.pass(0.37);
      expect(machine.passed.now()).toBe(machine.monotonic);
    }
  });

  it.each([50, 3_000, 8 * 3_600_000])(
    'counts the %d ms that the machine was suspended, at once',
    (ms) => {
      const machine = new Machine();
      const before = machine.passed.now();
      machine.wall += ms; // the monotonic clock stands still
      expect(machine.passed.now() - before).toBeGreaterThanOrEqual(ms - BLUR);
      expect(machine.passed.now() - before).toBeLessThanOrEqual(ms);
    },
  );

  it('counts every one of many short suspensions', () => {
    const machine = new Machine();
    const before = machine.passed.now();
    for (let time = 0; time < 100; time++) {
      machine.pass(1_000);
      machine.wall += 20;
      machine.passed.now();
    }
    expect(machine.passed.now() - before).toBeGreaterThanOrEqual(100 * 1_020 - BLUR);
  });

  it('is not less when the wall clock is set back, and a suspension after that counts in full', () => {
    const machine = new Machine();
    const before = machine.passed.now();
    machine.wall -= 3_600_000;
    machine.pass(10);
    expect(machine.passed.now() - before).toBe(10);
    machine.wall += 5_000;
    expect(machine.passed.now() - before).toBeGreaterThanOrEqual(5_010 - BLUR);
  });

  it('takes nothing away when the wall clock was set forward by mistake, and back again', () => {
    const machine = new Machine();
    machine.wall += 60_000;
    const forward = machine.passed.now();
    machine.wall -= 60_000;
    machine.pass(7);
    expect(machine.passed.now()).toBe(forward + 7);
  });

  it('follows a wall clock that is slewed forward at its own rate, never in a jump', () => {
    const machine = new Machine();
    let before = machine.passed.now();
    for (let second = 0; second < 3_600; second++) {
      machine.pass(1_000, 500); // as fast as a kernel slews
      const now = machine.passed.now();
      expect(now - before).toBeLessThan(1_000 + 2);
      before = now;
    }
    expect(before - machine.monotonic).toBeLessThanOrEqual(3_600_000 * 0.000_5 + 1);
  });

  it('adds nothing up while the wall clock is slewed to and fro', () => {
    const machine = new Machine();
    for (let second = 0; second < 86_400; second++) {
      machine.pass(1_000, second % 30 < 15 ? 500 : -500);
      machine.passed.now();
    }
    expect(machine.passed.now() - machine.monotonic).toBeLessThan(BLUR);
  });

  it('takes no pause of this process between its two readings for a suspension', () => {
    const machine = new Machine();
    for (let time = 0; time < 100; time++) {
      machine.pauses = [500]; // behind the wall clock
      machine.passed.now();
      machine.pauses = [0, 500]; // behind the monotonic clock, in a second look
      machine.passed.now();
      machine.pauses = [30, 0, 40, 20];
      machine.passed.now();
    }
    expect(machine.passed.now() - machine.monotonic).toBeLessThan(BLUR);
  });

  it('survives clocks that show nothing, as a mocked one may', () => {
    const machine = new Machine();
    machine.wall = Number.NaN;
    machine.pass(10);
    expect(machine.passed.now()).toBe(machine.monotonic);
  });

  const EVENTS = fc.oneof(
    fc.record({ what: fc.constant('pass'), ms: fc.double({ min: 0, max: 2_000, noNaN: true }) }),
    fc.record({ what: fc.constant('suspend'), ms: fc.integer({ min: 0, max: 100_000 }) }),
    fc.record({ what: fc.constant('set'), ms: fc.integer({ min: -100_000, max: 100_000 }) }),
    fc.record({ what: fc.constant('pause'), ms: fc.integer({ min: 0, max: 500 }) }),
    fc.record({ what: fc.constant('slew'), ms: fc.integer({ min: -50_000, max: 50_000 }) }),
  );

  it('never goes back, never is less than the monotonic clock, and never more than what both clocks could have gained', () => {
    fc.assert(
      fc.property(fc.array(EVENTS, { maxLength: 60 }), (events) => {
        const machine = new Machine();
        let last = machine.passed.now();
        let gained = 0; // milliseconds by which the wall clock was moved forward
        let missing = 0; // suspensions that a wall clock which was set back may hide
        let suspended = 0;
        for (const { what, ms } of events) {
          if (what === 'pass') machine.pass(ms);
          if (what === 'pause') machine.pauses = [ms, ms / 2, ms];
          if (what === 'slew') {
            machine.pass(1_000, ms);
            gained += Math.max(0, ms / 1_000);
            missing += Math.max(0, -ms / 1_000);
          }
          if (what === 'suspend' || what === 'set') {
            machine.wall += ms;
            if (what === 'suspend') suspended += ms;
            gained += Math.max(0, ms);
            missing += Math.max(0, -ms);
          }
          const now = machine.passed.now();
          expect(now).toBeGreaterThanOrEqual(last);
          last = now;
        }
        machine.pauses = [];
        const ahead = machine.passed.now() - machine.monotonic;
        expect(ahead).toBeGreaterThanOrEqual(0);
        expect(ahead).toBeLessThanOrEqual(gained + 1e-3);
        expect(ahead).toBeGreaterThanOrEqual(suspended - missing - events.length * BLUR);
      }),
      { numRuns: 500 },
    );
  });
});
