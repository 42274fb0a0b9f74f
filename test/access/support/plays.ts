/**
 * One write in every form that a caller has for it: alone, with the tag of its item and with another one, behind reads in a
 * batch, and in a batch under an Idempotency-Key that is sent again.
 */
import { type ListDraft, listArguments } from '../../property/support/list-aggregates.ts'
import type { Draft } from '../../property/support/request.ts'
import type { Rows } from '../../property/support/rows.ts'
import type { Opened } from './access.ts'
import { runBatch, type Told } from './batch.ts'
import { operationOf } from './batches.ts'
import type { Caller, Policy } from './policies.ts'
import { load, type Service } from './service.ts'
import { tagOfTarget } from './tags.ts'
import { withMeta } from './walks.ts'
import type { Write } from './writes.ts'

export type Player = {
  readonly database: Opened
  readonly policies: readonly Policy[]
  readonly caller: Caller
  readonly service: Service
}

export type Outcome = Told & {
  readonly form: string
  /** How many reads come before the write. */
  readonly reads?: number
}

type Play = { readonly write: Write; readonly reads: readonly (Draft | ListDraft)[]; readonly key: string }

export async function playWrites(who: Player, filling: Rows, { write, reads, key }: Play): Promise<readonly Outcome[]> {
  const { database, service } = who
  const outcomes: Outcome[] = []
  if ('key' in write) {
    await load(database, filling)
    outcomes.push({ form: 'another tag', ...(await service.write(write, ['none'])) })
    const tag = await tagOfTarget(service, write)
    if (tag !== undefined) outcomes.push({ form: 'its tag', ...(await service.write(write, [tag])) })
  }
  await load(database, filling)
  outcomes.push({ form: 'alone', ...(await service.write(write)) })

  const operations = [...reads.map(readOf), operationOf({ kind: 'write', write })]
  const batch = { reads: reads.length }
  await load(database, filling)
  outcomes.push({ form: 'batch', ...batch, ...(await runBatch(database, who, operations)) })
  const single = [...(await pageBefore(service, reads[0])), operationOf({ kind: 'write', write })]
  for (const [form, sent] of [
    ['reads and write', operations],
    ['page and write', single],
  ] as const) {
    await load(database, filling)
    const once = `${key} ${form}`
    outcomes.push({ form: `${form} once`, reads: sent.length - 1, ...(await runBatch(database, who, sent, once)) })
    const again = await runBatch(database, who, sent, once)
    outcomes.push({ form: `${form} again`, ...again })
  }
  return outcomes
}

/** A page with its cursors, where the caller may have one. */
async function pageBefore(service: Service, draft: Draft | ListDraft | undefined): Promise<readonly object[]> {
  if (draft === undefined || !('request' in draft)) return []
  const { offset: _, ...request } = draft.request
  const page: Draft = withMeta({ ...draft, request: { ...request, limit: 2 } })
  return (await service.draft(page)).status === 200 ? [readOf(page)] : []
}

function readOf(draft: Draft | ListDraft): object {
  if ('request' in draft) return operationOf({ kind: 'draft', draft })
  return { kind: 'read', collection: draft.collection, ...listArguments(draft, 'alone') }
}

/** What no hidden row may change: of a write that was done its status and what was read before it. */
export function toldOf(
  { form, status, text, answers, reads, operation, place, isReplayed }: Outcome,
  isTaken: boolean,
) {
  if (status === 200) return { form, status, isReplayed, answers: answers?.slice(0, reads ?? 0) }
  return { form, status, operation, ...(!isTaken && { text, place }) }
}
