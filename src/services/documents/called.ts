/** The names that people give to the collections and fields of a workspace, for the documents that describe them. */
import { ServiceError } from '../../core/error.ts'
import type { Called } from '../../core/manifest/model-view.ts'
import type { Ports } from '../../ports/ports.ts'
import { loadNamesDigest, loadNamesWithDigest } from '../../store/presentation.ts'

/**
 * `digest` changes with any name. `load` reads all names for building a document; throws 503 if they no longer match `digest`,
 * because the document would be cached under it.
 */
export type CalledThings = { readonly digest: string; readonly load: () => Promise<Called> }

/** Reads the current digest of a workspace by one statement. */
export type LoadCalled = (workspace: string) => Promise<CalledThings>

export type CalledDeps = { readonly ports: Pick<Ports, 'database'> }

export function createCalled(deps: CalledDeps): LoadCalled {
  const { ports } = deps

  async function load(workspace: string, digest: string): Promise<Called> {
    const { names, digest: now } = await loadNamesWithDigest(ports.database, workspace)
    if (now !== digest) {
      const meta = { retryAfter: 1 }
      throw new ServiceError('unavailable', 'Names have changed meanwhile, try again', { meta })
    }
    const things = new Map(
      names.map(({ id, shown: { displayName, description } }) => [id, { displayName, description }]),
    )
    return (id) => things.get(id)
  }

  return async (workspace) => {
    const digest = await loadNamesDigest(ports.database, workspace)
    return { digest, load: () => load(workspace, digest) }
  }
}
