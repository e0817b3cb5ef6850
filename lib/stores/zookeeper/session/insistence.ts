import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import type { Connection } from '../client/connection.js';
import type { Session } from './session.js';
import { ZooKeeperError } from '../client/zookeeper-errors.js';

/** Milliseconds before a refused call is repeated. They double. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2_000;

/**
 * Repeats a call until it is done, whatever the server answers meanwhile. A server that is overloaded, or whose rights change for
 * a moment, would otherwise keep a node for as long as the session lives. `refused` is told of each refusal. Rejects when the
 * session has ended.
 */
export async function insist<T>(
  session: Session,
  call: (connection: Connection, isRepeated: boolean) => Promise<T>,
  refused: (error: Error) => void = () => {},
): Promise<T> {
  let isRepeated = false;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await session.retry((connection, isAgain) => {
        isRepeated ||= isAgain;
        return call(connection, isRepeated);
      });
    } catch (error) {
      const isUnknown = error instanceof UnknownAnswerError;
      if (!isUnknown && !(error instanceof ZooKeeperError)) throw error;
      isRepeated ||= isUnknown; // it may have been done
      refused(error);
      await session.pause(pause);
    }
  }
}
