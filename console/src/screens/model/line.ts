/** Where in a JSON text something is wrong. Lines count from 1. */

/** The line of a place such as `collections.articles.fields.title`, or of what is nearest around it. */
export function lineOf(text: string, place: string): number | undefined {
  let best = { path: '', line: 0 }
  for (const { path, line } of placesIn(text)) {
    const isEnclosing = place === path || place.startsWith(`${path}.`) || place.startsWith(`${path}[`)
    if (isEnclosing && path.length > best.path.length) best = { path, line }
  }
  return best.line === 0 ? undefined : best.line
}

/** The line at which a text is no JSON any more; undefined where it is, or the browser does not say. */
export function brokenLine(text: string): number | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const message = String(error)
    const lineNumber = /line (\d+)/.exec(message)?.[1]
    if (lineNumber !== undefined) return Number(lineNumber)
    const at = /position (\d+)/.exec(message)?.[1]
    return at === undefined ? text.split('\n').length : text.slice(0, Number(at)).split('\n').length
  }
}

type Place = { readonly path: string; readonly line: number }

/** Every member and element, with the line at which it begins. The text is JSON. */
function placesIn(text: string): readonly Place[] {
  const found: Place[] = []
  /** What is open: its path, and in a list the number of the element that comes next. */
  const open: { readonly path: string; next: number | undefined }[] = []
  let line = 1
  let path = ''
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:|"(?:[^"\\]|\\.)*"|[{}[\],\n]|[^\s{}[\],"]+/g)) {
    const enclosing = open.at(-1)
    if (token === '\n') line += 1
    else if (token === '}' || token === ']') open.pop()
    else if (token.endsWith(':') && token.startsWith('"')) {
      const name: string = JSON.parse(token.slice(0, -1).trimEnd())
      path = [enclosing?.path, name].filter(Boolean).join('.')
      found.push({ path, line })
    } else if (token !== ',') {
      if (enclosing?.next !== undefined) {
        path = `${enclosing.path}[${enclosing.next}]`
        enclosing.next += 1
        found.push({ path, line })
      }
      if (token === '{') open.push({ path, next: undefined })
      if (token === '[') open.push({ path, next: 0 })
    }
  }
  return found
}
