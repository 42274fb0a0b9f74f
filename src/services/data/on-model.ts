/**
 * Runs a request on its model. Repeats it once with the newest model if an outdated model causes an error, and without the
 * missing fields if columns were dropped that no model knows of. Plans that became too old are planned again with the current
 * rights: a read after its answer, which is discarded; a write before it begins or commits. Explains errors by rights and
 * model.
 */
import { hasEntitlement } from '../../core/access/principal.ts'
import { andThen, attempt } from '../../core/and-then.ts'
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import { reachedFrom } from '../../core/model/reached.ts'
import { Unloaded } from '../../core/plan/read.ts'
import { isOutdated, withinTerm } from '../../core/sql/begin/plan-term.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import { planTermOf } from '../caller/plan-term.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { requirePlan } from '../model/reviewed.ts'
import { explainError, type FailedRequest, operationOf } from './explain-error.ts'
import type { Viewers } from './plan-cache.ts'
import type { Planned, Planning } from './planned.ts'
import type { RemainingModel } from './remaining-model.ts'
import type { SnapshotRecheck } from './snapshot-recheck.ts'

/**
 * `requested` is the collection, action and query of the request, or those of each operation of a batch. Throws 503 if model or
 * rights keep changing while the request runs.
 */
export type OnModel = <T>(
  scope: RequestScope,
  requested: ItemRequest | readonly ItemRequest[],
  /** Plans in the scope of the request, or in a later scope. */
  plan: (model: Model, scope: RequestScope) => Planning<T>,
) => Planning<T>

type ItemRequest = Pick<FailedRequest, 'name' | 'action' | 'sent'>

export type OnModelDeps = {
  /** Loads code that planning needs and that is not loaded yet. */
  readonly load: () => Promise<void>
  readonly models: Pick<ModelCache, 'load'>
  readonly viewers: Viewers
  readonly lookAgain: SnapshotRecheck
  /** True if these collections, by id, have not changed since a version of the model. */
  readonly untouched: (workspace: WorkspaceRow, ids: readonly string[], version: number) => Promise<boolean>
  readonly remaining: RemainingModel
}

export function createOnModel(deps: OnModelDeps): OnModel {
  const { load, models, viewers, lookAgain, untouched, remaining } = deps

  const onModel = <T>(
    scope: RequestScope,
    requested: ItemRequest | readonly ItemRequest[],
    planOn: (model: Model, scope: RequestScope) => Planning<T>,
    attempts: number,
  ): Planning<T> => {
    const { workspace, snapshot, rights, spent, plan: approved } = scope
    const spentBefore = spent?.rows ?? 0
    /** Plans again without counting the rows of the first plan. */
    const make = (model: Model, within: RequestScope): Planning<T> => {
      if (spent !== undefined) spent.rows = spentBefore
      return planOn(model, within)
    }
    /** Adds a term that changes of the model do not end, unless they affect collections that the request reaches. */
    const termed = (model: Model, within: RequestScope): RequestScope => {
      const isUntouched = async () => {
        const names = [requested].flat().map(({ name }) => name)
        const ids = reachedFrom(names, model)
        return ids !== undefined && untouched(workspace, ids, model.version)
      }
      return { ...within, term: planTermOf(within, within.again, isUntouched) }
    }
    const plan = (model: Model, within: RequestScope): Planning<T> =>
      attempt(
        () => make(model, within),
        (planned) => planned,
        (error) => {
          if (!(error instanceof Unloaded)) throw error
          return load().then(() => make(model, within))
        },
      )

    /** Plans the whole request again with a new scope; the previous attempt has left nothing. */
    async function planAgain(error: unknown): Promise<T> {
      if (attempts === 1) throw changing(error)
      const now = await scope.again()
      await requirePlan(scope, now.snapshot.modelVersion)
      if (spent !== undefined) spent.rows = spentBefore
      return (await onModel({ ...now, ...(spent && { spent }), plan: approved }, requested, planOn, attempts - 1))
        .answer
    }

    const explained = (model: Model, error: unknown) =>
      explainError(error, 'length' in requested, (operation) => {
        return { ...operationRequest(requested, operation), model, rights, viewer: viewers.of(rights, model) }
      })

    const isReading = [requested].flat().every(({ action }) => action === 'read')
    const running = (
      { plannedAt, answer }: Planned<T>,
      { term }: RequestScope,
      recover: (error: unknown) => Promise<T>,
    ): Planned<T> => ({
      plannedAt,
      answer: (isReading ? withinTerm(term, answer) : answer).catch((error) =>
        isOutdated(error) ? planAgain(error) : recover(error),
      ),
    })

    async function onNewerModel(model: Model, refused: unknown): Promise<Planned<T>> {
      const current = await lookAgain(workspace.id)
      const isNewer = current !== undefined && current.modelVersion > model.version
      if (isNewer) await requirePlan(scope, current.modelVersion)
      const newer = isNewer
        ? await open(await models.load(workspace, current.modelVersion))
        : isMissingTable(refused) &&
          (await remaining.without(workspace, model, operationRequest(requested, operationOf(refused)).name))
      if (newer === undefined || newer === false) throw explained(model, refused)
      const within = termed(newer, isNewer ? { ...scope, snapshot: current } : scope)
      const fail = (error: unknown): never => {
        throw explained(newer, error)
      }
      return attempt(
        () => plan(newer, within),
        (planned) => running(planned, within, fail),
        fail,
      )
    }

    const open = (model: Model) => {
      // A caller that may neither use nor know the closed collection gets the error of an unknown collection.
      const closed = [requested].flat().find(({ name, action }) => {
        const collection = model.byName.get(name)
        if (collection?.isClosed !== true) return false
        const isUsed = viewers.of(rights, model).accessTo(collection, action).kind !== 'denied'
        return isUsed || hasEntitlement(rights, 'dataModel:read')
      })
      if (closed !== undefined) throw closedFault(closed.name)
      return remaining.open(model)
    }

    return andThen(andThen(models.load(workspace, snapshot.modelVersion), open), (model) => {
      const within = termed(model, scope)
      return attempt(
        () => plan(remaining.of(model), within),
        (planned) =>
          running(planned, within, async (error) => {
            if (!isMissingTable(error)) throw explained(model, error)
            return (await onNewerModel(model, error)).answer
          }),
        (error) => {
          if (!(error instanceof ServiceError)) throw error
          return onNewerModel(model, error)
        },
      )
    })
  }

  return (scope, requested, planOn) => onModel(scope, requested, planOn, MOST_ATTEMPTS)
}

/** Maximum attempts of a request whose model or rights change each time while it waits. */
const MOST_ATTEMPTS = 4

function changing(cause: unknown): ServiceError {
  const message = 'The model or the rights have changed while the request waited: send it again'
  return new ServiceError('unavailable', message, { cause, meta: { retryAfter: 1 } })
}

function operationRequest(requested: ItemRequest | readonly ItemRequest[], operation: number): ItemRequest {
  if (!('length' in requested)) return requested
  const one = requested[operation] ?? requested[0]
  if (one === undefined) throw new TypeError('a batch has an operation')
  return one
}

function closedFault(name: string): ServiceError {
  return new ServiceError(
    'unavailable',
    `${name} is closed: a migration of its data source did not end; introspect the source`,
  )
}

/** Searches the causes for the source's report of a missing table or column. */
function isMissingTable(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === MISSING_TABLE || isMissingTable(error.cause))
}

const MISSING_TABLE = '2004'
