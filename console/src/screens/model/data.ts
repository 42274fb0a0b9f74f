/** What the screens of the data model ask, and the changes that are collected beside it. */
import type { ManifestText } from 'governed-data-client/generate'
import type { DryRun, Operation } from 'governed-data-client/system'
import { useMemo } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { unsavedAt } from '../../data/unsaved.ts'
import { manifestQuery } from '../../data/workspaces.ts'
import { modelTexts } from '../../messages/model.ts'
import { showToast } from '../../ui/toasts.tsx'
import type { ItemsRequest } from '../code/request.ts'
import { type Change, operationsOf } from './changes.ts'
import { applied, type Collection, type Model, recordsOf } from './records.ts'

/** Changes of whoever is signed in, which outlive a reload. */
export const changesOf = (workspace: string) => unsavedAt<readonly Change[]>([userId.value, 'model', workspace], [])

/** The model of the workspace with all changes that are collected, which is what screens show. */
export function useDraft(workspace: string) {
  const { data: manifest, error, refetch } = useQuery(manifestQuery(workspace))
  const changes = changesOf(workspace)
  const now = useMemo(() => manifest && recordsOf(manifest, workspace), [manifest, workspace])
  const model = useMemo(() => now && applied(now, operationsOf(changes.value)), [now, changes.value])
  return { model, error, refetch, changes: changes.value }
}

type Way = Pick<DryRun, 'restoresData'> & { readonly inverse: readonly Operation[]; readonly model: string }

/** The way back from the last migration that somebody made here, which outlives a reload; empty where there is none. */
const wayBackAt = (workspace: string) => unsavedAt<Partial<Way>>([userId.value, 'model way back', workspace], {})

/** Once a migration is made and the model is asked for again. */
export function keepWayBack(workspace: string, { inverse, restoresData }: DryRun): void {
  const manifest = queries.getQueryData<ManifestText>(manifestQuery(workspace).queryKey as readonly string[])
  const isKnown = inverse !== null && manifest !== undefined
  wayBackAt(workspace).value = isKnown ? { inverse, restoresData, model: digestOf(recordsOf(manifest, workspace)) } : {}
}

export function forgetWayBack(workspace: string): void {
  wayBackAt(workspace).value = {}
}

/** Undefined where there is none, and where the model is another by now, whoever has changed it. */
export function wayBack(workspace: string, model: Model): Way | undefined {
  const { inverse, restoresData = false, model: of } = wayBackAt(workspace).value
  return inverse !== undefined && of === digestOf(model) ? { inverse, restoresData, model: of } : undefined
}

/** Two models of one digest are the same but for an accident: it proves nothing to anybody. */
function digestOf(model: Model): string {
  const text = JSON.stringify(model)
  let [one, other] = [text.length, 0x9e3779b9]
  for (let at = 0; at < text.length; at += 1) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193)
    other = Math.imul(other ^ text.charCodeAt(at), 0x5bd1e995)
  }
  return `${one >>> 0} ${other >>> 0}`
}

export type Draft = {
  readonly workspace: string
  readonly model: Model
  readonly changes: readonly Change[]
  readonly mayEdit: boolean
}

/** `collection` as it would be after the changes; `isNew` where they make it. */
export type OfCollection = Draft & { readonly collection: Collection; readonly isNew: boolean }

export function addChange(workspace: string, change: Change): void {
  const changes = changesOf(workspace)
  if (change.operations.length > 0) changes.value = [...changes.value, change]
  else showToast(modelTexts.value.nothing)
}

/** Ids of sources whose databases were changed outside of the service. */
export function driftQuery(workspace: string): Query<readonly string[]> {
  type Answer = { readonly data: { readonly sources: readonly { readonly sourceId: string }[] } }
  return {
    queryKey: ['model', workspace, 'drift'],
    queryFn: async () => {
      const answer = await clientOf(workspace).$request<Answer>('GET', 'schema/drift').orThrow()
      return answer.data.sources.map(({ sourceId }) => sourceId)
    },
  }
}

export function modelRequest(workspace: string): ItemsRequest {
  const query = { fields: 'apiName,dbName,primitiveFields.apiName,primitiveFields.type' }
  return { workspace, collection: 'ServiceCollection', method: 'GET', query }
}

/** What is typed into a form: kept until it is sent or given up, also over a reload. */
export function useTyped<T extends object>(place: readonly unknown[], initial: T) {
  const kept = unsavedAt<Partial<T>>([userId.value, 'model form', ...place], {})
  const set = (to: Partial<T>) => {
    kept.value = { ...kept.value, ...to }
  }
  const forget = () => {
    kept.value = {}
  }
  return { typed: { ...initial, ...kept.value }, set, forget }
}

/** What of a change can be taken back: it with its data, also with what it makes, without, or nothing. */
export function backOf({
  inverse,
  restoresData,
}: Pick<DryRun, 'inverse' | 'restoresData'>): 'data' | 'made' | 'model' | 'nothing' {
  if (inverse === null) return 'nothing'
  if (!restoresData) return 'model'
  return JSON.stringify(inverse).includes('"kind":"delete') ? 'made' : 'data'
}
