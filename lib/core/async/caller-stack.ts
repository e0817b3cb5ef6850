/** Errors that came with an answer or a timer, whose stack names nothing of the application. */
const ofNoCaller = new WeakSet<object>();

/** The same error: `withCaller` is to give it a stack. */
export function lacksCaller<E>(error: E): E {
  if (typeof error === 'object' && error !== null) ofNoCaller.add(error);
  return error;
}

/**
 * The same error. Called by an async function that its caller awaits, where it catches the error, it writes the stack anew, once: from
 * there, the engine knows the function that awaits it. A lock that is granted costs nothing.
 */
export function withCaller<E>(error: E): E {
  if (typeof error === 'object' && error !== null && ofNoCaller.delete(error))
    Error.captureStackTrace(error, withCaller);
  return error;
}
