// Two or three texts in, their lines side by side out, so that what differs is seen and what is common recedes.

const TOKEN = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;
const ALIKE = 0.6; // share of common tokens from which two lines are put beside each other
const MOST_CELLS = 2_000_000;

const tokensOf = (line) =>
  [...line.matchAll(TOKEN)].map((found) => ({
    text: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));

/** Align lines of several texts: a row holds for each text the number of a line or -1, and whether it stands alone. */
export function aligned(texts) {
  const ids = new Map();
  const idOf = (text) => ids.get(text) ?? ids.set(text, ids.size).get(text);
  const bags = texts.map((lines) =>
    lines.map((line) =>
      tokensOf(line)
        .map((token) => idOf(token.text))
        .sort((a, b) => a - b),
    ),
  );
  let rows = bags[0].map((_, at) => [at]);
  for (let next = 1; next < bags.length; next += 1) rows = joined(rows, bags, next);
  return packed(rows, texts.length);
}

/** Move lines that nothing is like up beside one another, so that what is there instead of what stands together. */
function packed(rows, count) {
  const made = [];
  const last = Array(count).fill(-1);
  for (const row of rows) {
    const there = row.flatMap((line, text) => (line < 0 ? [] : [text]));
    const alone = there.length === 1;
    let at = made.length;
    if (alone) at = Math.min(last[there[0]] + 1, at);
    made[at] ??= Array.from({ length: count }, () => ({ line: -1, alone: false }));
    for (const text of there) {
      made[at][text] = { line: row[text], alone };
      last[text] = at;
    }
  }
  return made;
}

function joined(rows, bags, next) {
  const lines = bags[next];
  const empty = Array(next).fill(-1);
  if (rows.length * lines.length > MOST_CELLS) {
    return Array.from({ length: Math.max(rows.length, lines.length) }, (_, at) => [
      ...(rows[at] ?? empty),
      at < lines.length ? at : -1,
    ]);
  }
  const like = (row, line) => Math.max(...row.map((at, text) => (at < 0 ? 0 : likeness(bags[text][at], line))));
  const wide = lines.length + 1;
  const best = new Float64Array((rows.length + 1) * wide);
  const gains = new Float64Array((rows.length + 1) * wide);
  for (let i = rows.length - 1; i >= 0; i -= 1) {
    for (let j = lines.length - 1; j >= 0; j -= 1) {
      const gain = like(rows[i], lines[j]);
      gains[i * wide + j] = gain;
      const both = gain > 0 ? gain + best[(i + 1) * wide + j + 1] : 0;
      best[i * wide + j] = Math.max(both, best[(i + 1) * wide + j], best[i * wide + j + 1]);
    }
  }
  const made = [];
  let [i, j] = [0, 0];
  while (i < rows.length || j < lines.length) {
    const here = best[i * wide + j];
    if (
      i < rows.length &&
      j < lines.length &&
      gains[i * wide + j] > 0 &&
      here === gains[i * wide + j] + best[(i + 1) * wide + j + 1]
    ) {
      made.push([...rows[i], j]);
      i += 1;
      j += 1;
    } else if (i < rows.length && (j === lines.length || here === best[(i + 1) * wide + j]))
      made.push([...rows[i++], -1]);
    else made.push([...empty, j++]);
  }
  return made;
}

/** Return what two lines gain by standing together: nothing where they are not alike, little where they are short. */
function likeness(a, b) {
  if (!a.length || !b.length) return 0;
  let [i, j, common] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      common += 1;
      i += 1;
      j += 1;
    } else if (a[i] < b[j]) i += 1;
    else j += 1;
  }
  const share = (2 * common) / (a.length + b.length);
  return share < ALIKE ? 0 : share * Math.min(1, Math.min(a.length, b.length) / 3);
}

/** Return for each line of a row the spans that not every other line has; null where nothing stands beside it. */
export function differences(lines) {
  const tokens = lines.map((line) => (line === null ? null : tokensOf(line)));
  return tokens.map((own, at) => {
    const others = tokens.filter((other, place) => other && place !== at);
    if (!own || !others.length) return null;
    const shared = others.map((other) => common(own, other));
    return merged(own.filter((_, place) => shared.some((kept) => !kept.has(place))));
  });
}

/** Return the places in `own` of a longest common subsequence. */
function common(own, other) {
  if (own.length * other.length > MOST_CELLS) return standing(own, other);
  const wide = other.length + 1;
  const best = new Uint16Array((own.length + 1) * wide);
  for (let i = own.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      best[i * wide + j] =
        own[i].text === other[j].text
          ? best[(i + 1) * wide + j + 1] + 1
          : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
    }
  }
  const kept = new Set();
  for (let i = 0, j = 0; i < own.length && j < other.length;) {
    if (own[i].text === other[j].text) {
      kept.add(i++);
      j += 1;
    } else if (best[(i + 1) * wide + j] >= best[i * wide + j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}

/** Return the places in `own` whose token stands in the other line at all: for lines as long as files. */
function standing(own, other) {
  const held = new Set(other.map((token) => token.text));
  return new Set(own.keys().filter((place) => held.has(own[place].text)));
}

function merged(tokens) {
  const spans = [];
  for (const { start, end } of tokens) {
    if (spans.length && start - spans.at(-1)[1] <= 1) spans.at(-1)[1] = end;
    else spans.push([start, end]);
  }
  return spans;
}

const NAME = /[\p{L}_][\p{L}\p{N}_]{2,}(?=(\s*\()?)/gu;

/** Return for each text the names that it alone has, what it calls first. */
export function namesOnlyIn(texts) {
  const names = texts.map((text) => {
    const held = new Map();
    for (const found of text.matchAll(NAME)) held.set(found[0], held.get(found[0]) || Boolean(found[1]));
    return held;
  });
  return names.map((own, at) => {
    const alone = [...own].filter(([name]) => names.every((other, place) => place === at || !other.has(name)));
    return alone.sort((a, b) => b[1] - a[1]).map(([name]) => name);
  });
}
