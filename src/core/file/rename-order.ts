/** Orders renames, so that each name is free when it is taken; of names that go round in a circle one steps aside first. */
import { uniqueName } from '../migration/derive.ts'

export type Rename = { readonly key: string; readonly from: string; readonly to: string }
export type Step = { readonly key: string; readonly to: string; readonly isAside: boolean }

/** `all` are all names that stay, too; `taken` those that a name aside must not be. Names of `all` are unique before and after. */
export function renameOrder(all: readonly Rename[], taken: ReadonlySet<string>): readonly Step[] {
  const waiting = new Map(all.filter(({ from, to }) => from !== to).map((rename) => [rename.from, rename]))
  const used = new Set(taken)
  const steps: Step[] = []
  while (waiting.size > 0) {
    let isStuck = true
    for (const rename of [...waiting.values()]) {
      if (waiting.has(rename.to)) continue
      steps.push({ key: rename.key, to: rename.to, isAside: false })
      waiting.delete(rename.from)
      isStuck = false
    }
    if (!isStuck) continue
    const [first] = waiting.values()
    if (first === undefined) break
    const to = temporaryName(first.from, used)
    used.add(to)
    steps.push({ key: first.key, to, isAside: true })
    waiting.delete(first.from)
    waiting.set(to, { ...first, from: to })
  }
  return steps
}

/** A name that nothing has, for as long as a migration runs. */
export function temporaryName(name: string, taken: ReadonlySet<string>): string {
  return uniqueName(`${name}_renamed`, (other) => taken.has(other))
}
