/** Orders renames, so that each name is free when it is taken; of names that go round in a circle one steps aside first. */
import { uniqueName } from '../migration/derive.ts'

export type Rename = { readonly key: string; readonly from: string; readonly to: string }
export type Step = { readonly key: string; readonly to: string; readonly isAside: boolean }

/** `all` are all names that stay, too; `taken` those that a name aside must not be. Names of `all` are unique before and after. */
export function renameOrder(all: readonly Rename[], taken: ReadonlySet<string>): readonly Step[] {
  const waiting = new Map(all.filter(({ from, to }) => from !== to).map((rename) => [rename.from, rename]))
  const claimants = new Map([...waiting.values()].map((rename) => [rename.to, rename]))
  const steps: Step[] = []
  /** Takes the rename, and then whichever waited for the name that it gives up. */
  const take = (first: Rename | undefined) => {
    for (let rename = first; rename !== undefined && !waiting.has(rename.to); rename = claimants.get(rename.from)) {
      steps.push({ key: rename.key, to: rename.to, isAside: false })
      waiting.delete(rename.from)
    }
  }
  for (const rename of [...waiting.values()]) if (waiting.has(rename.from)) take(rename)
  // What still waits goes round in circles. A map goes on without what is deleted while it is walked through.
  const used = new Set(waiting.size === 0 ? [] : taken)
  for (const rename of waiting.values()) {
    const to = temporaryName(rename.from, used)
    const last = { ...rename, from: to }
    used.add(to)
    steps.push({ key: rename.key, to, isAside: true })
    waiting.delete(rename.from)
    waiting.set(to, last)
    claimants.set(rename.to, last)
    take(claimants.get(rename.from))
  }
  return steps
}

/** A name that nothing has, for as long as a migration runs. */
export function temporaryName(name: string, taken: ReadonlySet<string>): string {
  return uniqueName(`${name}_renamed`, (other) => taken.has(other))
}
