/** Server-sent events: those of a provider are split, ours are written. */

import { ProviderFailure } from './wire.ts'

/** Characters of one line of a provider; longer ones are refused. */
const MOST = 400_000

/** Takes pieces of text as they come and returns the data of the events that are whole then. Throws ProviderFailure for one that is too long. */
export function eventReader(): (piece: string) => readonly string[] {
  // A line may come in any number of pieces, each of which is looked at once.
  let parts: string[] = []
  let length = 0
  return (piece) => {
    length += piece.length
    if (length > MOST && !/[\r\n]/.test(piece)) throw new ProviderFailure('sends an event that is too long')
    parts.push(piece)
    if (!/[\r\n]/.test(piece)) return []
    const lines = parts.join('').split(/\r\n|\n|\r(?!$)/)
    // A piece may end in the middle of a line, or of its end.
    const rest = lines.pop() ?? ''
    parts = [rest]
    length = rest.length
    // Each event of these protocols has its data in one line.
    return lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
  }
}

export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
