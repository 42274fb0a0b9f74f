/** Server-sent events: those of a provider are split, ours are written. */

import { ProviderTrouble } from './wire.ts'

/** Characters of one event of a provider; longer ones are refused. */
const MOST = 1_000_000

/** Takes pieces of text as they come and returns the data of the events that are whole then. Throws ProviderTrouble for one that is too long. */
export function eventReader(): (piece: string) => readonly string[] {
  let rest = ''
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    // A piece may end in the middle of a line, or of its end.
    rest = lines.pop() ?? ''
    if (rest.length > MOST) throw new ProviderTrouble('sends an event that is too long')
    // Each event of these protocols has its data in one line.
    return lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
  }
}

export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
