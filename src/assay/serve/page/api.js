// Questions to the server: values in, its answer out, or an error whose message can be shown.

/** The server said no, in a sentence. */
export class Refused extends Error {
  constructor(message, status, after) {
    super(message);
    this.status = status;
    this.after = after;
  }
}

const asText = (value) => (Array.isArray(value) ? value : [value]).filter((one) => one !== "" && one !== undefined);

export function address(path, parameters = {}) {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => asText(value).map((one) => [name, one]));
  return pairs.length ? `${path}?${new URLSearchParams(pairs)}` : path;
}

export async function ask(path, parameters = {}, { signal, body } = {}) {
  const how =
    body === undefined
      ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(address(path, parameters), { ...how, signal, credentials: "same-origin" }).catch(
    (error) => {
      if (error.name === "AbortError") throw error;
      throw new Refused("Nothing answers. Is assay serve still running?", 0);
    },
  );
  const told = await answer.json().catch(() => null);
  signal?.throwIfAborted(); // while the body came
  if (answer.ok && told !== null) return told;
  const hint = answer.status === 401 ? " Open the address that the command printed, token and all." : "";
  throw new Refused(
    `${told?.error ?? `The server answered ${answer.status}.`}${hint}`,
    answer.status,
    Number(answer.headers.get("Retry-After")) || 0,
  );
}

const BUSY = new Set([429, 503]);

/** Ask until there is an answer: while an index is made the server says how far it is, which `told` gets to hear. */
export async function patiently(path, parameters, { signal, told }) {
  for (;;) {
    try {
      return await ask(path, parameters, { signal });
    } catch (error) {
      if (!(error instanceof Refused) || !BUSY.has(error.status)) throw error;
      told(error.message);
      await pause(1000 * Math.min(Math.max(error.after, 1), 10), signal);
    }
  }
}

function pause(ms, signal) {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        fail(new DOMException("given up", "AbortError"));
      },
      { once: true },
    );
  });
}
