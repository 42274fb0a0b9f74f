/** How people call the collections and fields of a workspace, for the documents that describe them to those who may use them. */
import type { Called } from '../../core/manifest/model-view.ts'
import type { Ports } from '../../ports.ts'
import { loadNames } from '../../store/presentation.ts'

/** `text` differs where any name differs. */
export type CalledThings = { readonly of: Called; readonly text: string }

/** As it is now in a workspace, by one statement. */
export type LoadCalled = (workspace: string) => Promise<CalledThings>

export type CalledDeps = { readonly ports: Pick<Ports, 'database'> }

export function createCalled(deps: CalledDeps): LoadCalled {
  const { ports } = deps
  return async (workspace) => {
    const named = (await loadNames(ports.database, workspace)).flatMap(({ id, shown: { displayName, description } }) =>
      displayName || description ? [[id, { displayName, description }] as const] : [],
    )
    const things = new Map(named.toSorted(([one], [other]) => (one < other ? -1 : 1)))
    return { of: (id) => things.get(id), text: JSON.stringify([...things]) }
  }
}
