/** What several projects of a run use, started by the first of them and closed when the last has ended. */
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'

type Started = { readonly served: ProvidedContext['served']; readonly close: () => Promise<void> }

/** Global setups of projects do not share their modules. */
const shared = globalThis as { startedForProjects?: Map<string, { users: number; readonly started: Promise<Started> }> }

/** A global setup that provides what `start` serves. */
export function servedToProjects(name: string, start: () => Promise<Started>) {
  return async (project: TestProject): Promise<() => Promise<void>> => {
    shared.startedForProjects ??= new Map()
    const use = shared.startedForProjects.get(name) ?? { users: 0, started: start() }
    shared.startedForProjects.set(name, use)
    use.users += 1
    project.provide('served', (await use.started).served)

    return async () => {
      use.users -= 1
      if (use.users > 0) return
      shared.startedForProjects?.delete(name)
      await (await use.started).close()
    }
  }
}
