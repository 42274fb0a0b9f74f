/** Who of the file is who of the model: by the id where the model knows it, else by the name, else by `renamedFrom`. */
import { shortName } from '../message-text.ts'
import { fileFault } from './reading.ts'

export type Named = { readonly id: string; readonly name: string }

export type Wanted = {
  readonly name: string
  /** The line of `ids` about it. */
  readonly line: string
  readonly renamedFrom?: string | undefined
}

export type Ids = {
  /** The id that the file gives. */
  readonly of: (line: string) => string | undefined
  /** The file's id where nothing of the workspace has it, else a new one. */
  readonly forNew: (line: string) => string
  /** Whether the workspace has it, whatever it is. */
  readonly isKnown: (id: string) => boolean
}

const none: ReadonlySet<string> = new Set()

/** `known` are all ids of the workspace, `taken` those that something elsewhere has: nobody gets them, or learns of them. */
export function createIds(
  lines: ReadonlyMap<string, string>,
  known: ReadonlySet<string>,
  newId: () => string,
  taken: ReadonlySet<string> = none,
): Ids {
  const given = new Set<string>()
  return {
    of: (line) => lines.get(line),
    isKnown: (id) => known.has(id),
    forNew(line) {
      const wanted = lines.get(line)
      const isFree = (id: string) => !known.has(id) && !taken.has(id) && !given.has(id)
      const id = wanted !== undefined && isFree(wanted) ? wanted : newId()
      given.add(id)
      return id
    },
  }
}

/**
 * Matches what the file wants with what there is; nothing is matched twice. `what` is the kind for messages, such as
 * `a collection`. Throws 422 where an id contradicts a name.
 */
export function identify<W extends Wanted, N extends Named>(
  wanted: readonly W[],
  there: readonly N[],
  { ids, what }: { readonly ids: Ids; readonly what: string },
): ReadonlyMap<W, N> {
  const byId = new Map(there.map((one) => [one.id, one]))
  const byName = new Map(there.map((one) => [one.name, one]))
  const matched = new Map<W, N>()
  const taken = new Map<N, W>()
  const take = (one: W, found: N | undefined) => {
    if (found === undefined || taken.has(found) || matched.has(one)) return
    matched.set(one, found)
    taken.set(found, one)
  }
  for (const one of wanted) {
    const id = ids.of(one.line)
    if (id === undefined) continue
    const found = byId.get(id)
    const place = `model.ids.${shortName(one.line)}`
    if (found === undefined && ids.isKnown(id)) throw fileFault(place, `is the id of something that is not ${what}`)
    const other = found === undefined ? undefined : taken.get(found)
    if (other !== undefined) throw fileFault(place, `is also the id of ${other.name}`)
    take(one, found)
  }
  const renamed = new Set(wanted.map(({ renamedFrom }) => renamedFrom))
  for (const one of wanted) {
    const found = matched.get(one)
    const namesake = byName.get(one.name)
    if (found === undefined || found === namesake || namesake === undefined || taken.has(namesake)) continue
    if (renamed.has(one.name)) continue
    throw fileFault(
      `model.ids.${shortName(one.line)}`,
      `is the id of ${found.name}, while ${one.name} is there and nothing of the file takes its place`,
    )
  }
  for (const one of wanted) take(one, byName.get(one.name))
  for (const one of wanted) if (one.renamedFrom !== undefined) take(one, byName.get(one.renamedFrom))
  return matched
}
