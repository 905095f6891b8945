/* The server's API. What the server refuses is an error in its own words; a server that is gone is waited for. */

const LONGEST_WAIT = 5; // seconds between two tries

/** What the server said about a request that it refused. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Told when the server does not answer, and when it does again. */
let listener = () => {};

export function onConnection(told) {
  listener = told;
}

const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/**
 * The JSON at an address of the API; `body` makes it a POST. Tries again for as long as the server is away or too
 * busy: reading changes nothing, and a step of a walk that is sent twice is taken once.
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
  const told = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, told.error ?? `the server answered ${answer.status} to ${answer.url}`);
}
