/**
 * Named secrets of a workspace (docs/operations.md): written, listed by name and deleted, never read back. An account that may
 * create data sources can use every secret and send it anywhere, so both require `dataSource:create` (decision 048).
 */
import { hasEntitlement, type Rights, requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { SourceRecord } from '../../core/model/model.ts'
import type { Ports } from '../../ports/ports.ts'
import { breaksReference } from '../../store/failed-batch.ts'
import {
  deleteSecret,
  type ListedSecret,
  listSecrets,
  loadSecrets,
  saveSecret,
  secretPurpose,
  sourcesOf,
} from '../../store/secrets.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'
import type { ModelChanges } from './model-changes.ts'
import type { OpenSources } from './open-sources.ts'
import type { Sources } from './sources.ts'

export type Secrets = {
  /** Lists names, without values. */
  list(scope: RequestScope): Promise<readonly ListedSecret[]>
  /** Tests the data sources that use the secret with the new value; throws 422 and keeps the old value if a test fails. */
  write(scope: RequestScope, name: string, sent: LazyBody<{ readonly value: string }>): Promise<void>
  /** Throws 409 while a data source uses the secret. */
  delete(scope: RequestScope, name: string): Promise<void>
}

export type SecretsDeps = {
  readonly ports: Ports
  readonly models: ModelChanges
  readonly sources: Pick<Sources, 'testWith'>
  readonly openSources: Pick<OpenSources, 'closeSources'>
}

export function createSecrets(deps: SecretsDeps): Secrets {
  const { ports, models, sources, openSources } = deps
  const { database, ids, vault } = ports

  return {
    list({ workspace, rights }) {
      requireEntitlement(rights, 'dataSource:create')
      return listSecrets(database, workspace.id)
    },

    async write(scope, name, sent) {
      const { workspace } = scope
      requireEntitlement(scope.rights, 'dataSource:create')
      const { value } = await sent()
      const sealed = await vault.seal(secretPurpose(workspace.id, name), value)
      // A new version of the model makes every process check the secrets of its open sources.
      const changed = await models.change(scope, 'dataSource:create', async ({ records }, { rights }) => {
        const [known] = await loadSecrets(database, workspace.id, [name])
        const users = known === undefined ? new Set<string>() : await sourcesOf(database, known.id)
        for (const source of records.sources) {
          if (!users.has(source.id)) continue
          const work = tested(named(source, rights), sources.testWith(workspace, source, { name, value }))
          await work.catch(async (cause: unknown) => {
            const failed = { action: 'secret.update.v1', outcome: 'failure', payload: { name } } as const
            await database.batch([recordWorkspaceEvent(ids, scope, failed)])
            throw cause
          })
        }
        const id = known?.id ?? ids.next()
        const action = known === undefined ? 'secret.create.v1' : 'secret.update.v1'
        return {
          records,
          statements: [
            saveSecret(workspace.id, { id, name, sealed }),
            recordWorkspaceEvent(ids, scope, { action, target: { type: 'secret', id }, payload: { name } }),
          ],
          answer: users,
        }
      })
      await openSources.closeSources(workspace.id, changed)
    },

    async delete(scope, name) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataSource:create')
      const [known] = await loadSecrets(database, workspace.id, [name])
      if (known === undefined) throw new ServiceError('notFound', 'Secret does not exist')
      const users = await sourcesOf(database, known.id)
      if (users.size > 0) throw inUse((await models.current(workspace)).records.sources, users, rights)
      const target = { type: 'secret', id: known.id } as const
      try {
        await database.batch([
          deleteSecret(known.id),
          recordWorkspaceEvent(ids, scope, { action: 'secret.delete.v1', target, payload: { name } }),
        ])
      } catch (cause) {
        if (breaksReference(cause)) throw inUse([], users, rights)
        throw cause
      }
    },
  }
}

/** Any failure of the test is reported as a rejection of the value. */
async function tested(source: string | undefined, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    const place = source === undefined ? cause : new ServiceError('invalid', source, { cause })
    throw new ServiceError('invalid', 'A data source that uses the secret fails its test with this value', {
      cause: place,
    })
  }
}

/** Returns the source's name if the caller may read data sources. */
function named({ apiName }: SourceRecord, rights: Rights): string | undefined {
  return hasEntitlement(rights, 'dataSource:read') ? apiName : undefined
}

function inUse(sources: readonly SourceRecord[], users: ReadonlySet<string>, rights: Rights): ServiceError {
  const names = sources.filter(({ id }) => users.has(id)).flatMap((source) => named(source, rights) ?? [])
  const reason = names.length === 0 ? 'a data source uses it' : `used by ${names.slice(0, 5).join(', ')}`
  return new ServiceError('conflict', 'The secret cannot be deleted', { cause: new ServiceError('conflict', reason) })
}
