import { systemClock } from '../../core/async/clock.js';
import type { Clock } from '../../core/async/clock.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { warn } from '../../core/async/warn.js';
import type { LockService } from '../../core/lock.service.js';
import { isClosed } from '../../http/closed-response.js';
import type { LockAction, SnapshotQuery } from '../api.js';
import { lookAt } from '../sample/observation.js';
import type { Observation } from '../sample/observation.js';
import type { Sample } from '../sample/sample.js';
import { snapshotText } from '../sample/snapshots.js';
import type { SnapshotContext } from '../sample/snapshots.js';
import { Refusal, send, sendJson, sendRefusal } from './answers.js';
import { EventStream, STREAM_TYPE } from './event-stream.js';
import { jsonBody } from './json-body.js';
import { checkOwnOrigin } from './own-origin.js';
import { sendFile, sendPage } from './page-files.js';
import { release } from './release.js';
import { snapshotQuery } from './snapshot-query.js';
import type { Visit } from './visit.js';

/** Milliseconds after which a stream ends. The browser asks anew, and so does a guard. */
const LONGEST_STREAM = 300_000;

/** Answers the requests of the page that a guard has let in. */
export class Dashboard {
  readonly #locks: LockService;
  readonly #observation: Observation;
  readonly #context: SnapshotContext;
  readonly #clock: Clock;
  readonly #streams = new Set<EventStream>();
  #isClosed = false;

  constructor(locks: LockService, actions: readonly LockAction[], clock: Clock = systemClock) {
    this.#locks = locks;
    this.#clock = clock;
    this.#observation = lookAt(locks, clock);
    const { recorder } = this.#observation;
    this.#context = { locks, actions, charts: () => recorder.charts() };
  }

  /** Never rejects. */
  async answer(visit: Visit): Promise<void> {
    try {
      await this.#answer(visit);
    } catch (error) {
      const { response } = visit;
      if (!(error instanceof Refusal)) warn(`The page of the locks failed: ${reasonOf(error)}`);
      if (response.headersSent) return void response.destroy();
      sendRefusal(response, error instanceof Refusal ? error : FAILED);
    }
  }

  /** Ends all streams. Later requests get 503. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stream of this.#streams) stream.end('bye');
    this.#observation.leave();
  }

  async #answer(visit: Visit): Promise<void> {
    const { response, route, url } = visit;
    if (this.#isClosed) throw new Refusal(503, 'LOCK_DASHBOARD_CLOSED', 'The application shuts down'); // prettier-ignore
    switch (route) {
      case '':
        return sendPage(visit);
      case 'page.js':
      case 'page.css':
        return sendFile(visit, route);
      case 'api/events':
        return this.#stream(visit);
      case 'api/snapshot': {
        const query = snapshotQuery(url);
        const sample = await this.#observation.sampler.once(query.key);
        return sendJson(response, 200, snapshotText(sample, query, this.#context));
      }
      case 'api/release':
        return this.#release(visit);
    }
  }

  #stream({ request, response, url }: Visit): void {
    const query = snapshotQuery(url);
    if (isClosed(response)) return;
    if (request.method === 'HEAD') return send(response, 200, STREAM_TYPE, '');
    const stream = new EventStream(response, this.#clock);
    this.#streams.add(stream);
    const cancel = this.#clock.schedule(LONGEST_STREAM, () => stream.end(), true);
    const leave = this.#observation.sampler.watch({
      key: query.key,
      see: (sample) => this.#tell(stream, sample, query),
    });
    response.once('close', () => {
      cancel();
      leave();
      this.#streams.delete(stream);
    });
  }

  /** A wrapper that the application put around the response may throw; the other viewers are not concerned. */
  #tell(stream: EventStream, sample: Sample, query: SnapshotQuery): void {
    try {
      stream.send('snapshot', snapshotText(sample, query, this.#context));
    } catch (error) {
      warn(`The stream of the locks failed: ${reasonOf(error)}`);
      stream.cut();
    }
  }

  async #release({ request, response, body, actor }: Visit): Promise<void> {
    if (!this.#context.actions.includes('release')) {
      throw new Refusal(403, 'LOCK_DASHBOARD_READ_ONLY', "Releases are not allowed: actions lacks 'release'"); // prettier-ignore
    }
    checkOwnOrigin(request.headers);
    const asked = await jsonBody(request, body);
    sendJson(response, 200, JSON.stringify(await release(this.#locks, asked, actor)));
  }
}

const FAILED = new Refusal(500, 'LOCK_DASHBOARD_FAILED', 'The page could not be made: see the warnings of the process'); // prettier-ignore
