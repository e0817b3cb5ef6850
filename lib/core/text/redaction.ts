/** Replaces a secret. */
const HIDDEN = '***';

const URLS = /\b([a-z][a-z\d+.-]*:\/\/)(\S*)/gi;
/** A text that begins as a URL is one to its end: a password may have blanks in it. */
const ONE_URL = /^(\s*["']?[a-z][a-z\d+.-]*:\/\/)([\s\S]*)$/i;
/** `user:password@host`, in front of which no `//` stands. */
const USER_INFO = /(?<![^\s"'`(,=[/])[^\s:@/"'`(,=]{0,100}:[^\s@/\\]{1,300}@(?=[\w[])/g;
const SECRET_NAME = String.raw`\w*(?:passw(?:or)?d|passphrase|pwd|secret|credential|token|api_?key)s?`;
/** `password=…`, of a DSN or a query. */
const ASSIGNED = new RegExp(String.raw`\b(${SECRET_NAME}\s*=\s*)("[^"]*"|'[^']*'|[^\s&;,'")]+)`, 'gi'); // prettier-ignore
/** `"password":"…"`, of JSON, and `password: '…'` of an object that was printed. */
const PRINTED = new RegExp(String.raw`(\b${SECRET_NAME}["']?\s*:\s*)("[^"]*"|'[^']*')`, 'gi');
const BEARER_CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/g;
const PEM = /-----BEGIN[\s\S]*?(?:-----END[^-]*-----|$)/g;
/** Redis repeats a command that it does not know: `HELLO 3 AUTH default <password>`, say. */
const REPEATED_COMMAND = /(with args beginning with:?)[\s\S]*/;

/** Removes passwords, tokens and keys from a text: from URLs, DSNs, PEM, and the answers of servers that repeat a command. */
export function redact(text: string): string {
  return text
    .replace(PEM, HIDDEN)
    .replace(REPEATED_COMMAND, `$1 ${HIDDEN}`)
    .replace(ONE_URL, redactUrl)
    .replace(URLS, redactUrl)
    .replace(USER_INFO, `${HIDDEN}@`)
    .replace(ASSIGNED, `$1${HIDDEN}`)
    .replace(PRINTED, `$1${HIDDEN}`)
    .replace(BEARER_CREDENTIALS, `$1 ${HIDDEN}`);
}

/**
 * A password that was not escaped may contain any character, `/`, `#`, `?` and `@` included: everything up to the last `@` is
 * removed.
 */
function redactUrl(url: string, scheme: string, rest: string): string {
  if (rest.startsWith('/')) return url; // `file:///`, of stacks
  const end = rest.lastIndexOf('@');
  const isUserInfo = end >= 0 && /^[^/]*$|:/.test(rest.slice(0, end)); // not that of `unpkg.com/@scope`
  if (isUserInfo) return `${scheme}${HIDDEN}@${rest.slice(end + 1)}`;
  // Without a host, the text after a colon is a password unless it is a port.
  return (
    scheme + rest.replace(/^((?:\[[^\]]*\]|[^/?#:[])*:)(?!\d{1,5}(?!\w))(?=\S).+/s, `$1${HIDDEN}`)
  );
}
