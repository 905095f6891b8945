/* The client of the server's API. A refused request is an error with the server's message; a lost server is retried. */

const LONGEST_WAIT = 5; // seconds between two tries

/** The server's message about a request that it refused. */
export class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Called with false when the server does not answer, and with true when it answers. */
let listener = () => {};

export function onConnection(callback) {
  listener = callback;
}

const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/**
 * The JSON at an address of the API; with a `body` the request is a POST. It is retried while the server is away or too
 * busy. That is safe: reading changes nothing, and the server takes a step that is sent twice only once.
 */
export async function ask(address, body = undefined, signal = undefined) {
  for (let tries = 0; ; tries += 1) {
    const answer = await attempt(address, body, signal);
    if (answer !== null && answer.status !== 429 && answer.status !== 503) {
      listener(true);
      return read(answer);
    }
    if (answer === null) listener(false);
    await pause(Number(answer?.headers.get("Retry-After")) || Math.min(2 ** tries / 2, LONGEST_WAIT));
  }
}

/** The server's answer, or null if there is no server. */
async function attempt(address, body, signal) {
  const json = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    return await fetch(`/api/${address}`, { ...(body === undefined ? {} : json), cache: "no-cache", signal });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    return null;
  }
}

async function read(answer) {
  if (answer.ok) return answer.json();
  const body = await answer.json().catch(() => ({}));
  throw new RequestError(answer.status, body.error ?? `the server answered ${answer.status} to ${answer.url}`);
}
