/** How people call the collections and fields of a workspace, for the documents that describe them to those who may use them. */
import type { Called } from '../../core/manifest/model-view.ts'
import type { Ports } from '../../ports.ts'
import { loadNames, loadNamesDigest } from '../../store/presentation.ts'

/** `digest` differs where any name differs; all the names may be long, and are loaded for a document that is built. */
export type CalledThings = { readonly digest: string; readonly load: () => Promise<Called> }

/** As it is now in a workspace, by one statement. */
export type LoadCalled = (workspace: string) => Promise<CalledThings>

export type CalledDeps = { readonly ports: Pick<Ports, 'database'> }

export function createCalled(deps: CalledDeps): LoadCalled {
  const { ports } = deps

  async function load(workspace: string): Promise<Called> {
    const names = await loadNames(ports.database, workspace)
    const things = new Map(
      names.map(({ id, shown: { displayName, description } }) => [id, { displayName, description }]),
    )
    return (id) => things.get(id)
  }

  return async (workspace) => ({
    digest: await loadNamesDigest(ports.database, workspace),
    load: () => load(workspace),
  })
}
