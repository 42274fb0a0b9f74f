/** The members of a JSON object as texts, none of which is read: a value may have millions of parts. */

/** By their names. `text` is an object, as `JSON.parse` takes it. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let at = behindSpace(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const colon = behindSpace(text, stringEnd(text, at))
    const begin = behindSpace(text, colon + 1)
    const end = valueEnd(text, begin)
    found.set(JSON.parse(text.slice(at, colon)) as string, text.slice(begin, end).trimEnd())
    at = behindSpace(text, text[end] === ',' ? end + 1 : end)
  }
  return found
}

function behindSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
  return at
}

/** Behind the string that begins here. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); ; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text[at - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return at + 1
  }
}

/** At the comma or the bracket behind the value that begins here. */
function valueEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = stringEnd(text, at) - 1
    else if (character === '{' || character === '[') depth += 1
    else if (depth === 0 && (character === ',' || character === '}')) return at
    else if (character === '}' || character === ']') depth -= 1
  }
  return text.length
}
