/** How one collection or field is called and shown, as JSON of the model file. */
import { plainNumber } from '../../exact-json.ts'
import type { FileShown } from '../file.ts'
import { fileFault, flagAt, membersAt, requireLine, requireStorable } from '../reading.ts'

/** The texts, each with the most characters that it may have. */
export const shownTexts = { displayName: 200, description: 4_000, icon: 100, color: 100, displayTemplate: 1_000 }

const textNames = Object.keys(shownTexts) as (keyof typeof shownTexts)[]

const INT32 = 2 ** 31

/** Throws 422 with the place of a fault. */
export function readShown(value: unknown, place: string): FileShown {
  const sent = membersAt(value, place, [...textNames, 'sort', 'hidden'])
  const texts = textNames.flatMap((name) => {
    const text = sent[name]
    if (text === undefined) return []
    if (typeof text !== 'string') throw fileFault(`${place}.${name}`, 'must be a string')
    requireStorable(text, `${place}.${name}`)
    if (name === 'displayName') requireLine(text, `${place}.${name}`)
    const most = shownTexts[name]
    if ([...text].length > most) throw fileFault(`${place}.${name}`, `must have at most ${most} characters`)
    return [[name, text] as const]
  })
  const sort = plainNumber(sent.sort)
  const isSort = typeof sort === 'number' && Number.isInteger(sort) && sort >= -INT32 && sort < INT32
  if (sort !== undefined && !isSort) throw fileFault(`${place}.sort`, 'must be a whole number of 32 bits')
  return {
    ...Object.fromEntries(texts),
    ...(isSort && { sort }),
    ...(flagAt(sent.hidden, `${place}.hidden`, false) && { isHidden: true as const }),
  }
}

/** In the form of the file. */
export function shortShown({ isHidden, sort, ...texts }: FileShown): Readonly<Record<string, unknown>> {
  const given = textNames.flatMap((name) => (texts[name] === undefined ? [] : [[name, texts[name]] as const]))
  return { ...Object.fromEntries(given), ...(sort !== undefined && { sort }), ...(isHidden && { hidden: true }) }
}
