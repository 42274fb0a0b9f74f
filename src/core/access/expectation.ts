/** The expectation of an access test (docs/contract.md#access-tests): sent with names, stored with ids. */
import { nested } from '../error.ts'
import { shortName } from '../message-text.ts'
import type { Collection, Model } from '../model/model.ts'
import { didYouMean } from '../nearest.ts'
import type { Action } from './access.ts'
import { fieldById, namesOf, type PolicyAction, shownAction, storedAction } from './policy.ts'

/** Maximum per workspace, because each test may query a data source when rights change. */
export const MOST_ACCESS_TESTS = 100

/**
 * With `field`, `allowed` is about the action with that field. `fields` is the exact list of fields that the action allows in
 * some items. `count` is the number of readable items.
 */
export type Expectation = {
  readonly action: Action
  readonly key?: unknown
  readonly field?: string | undefined
  readonly filter?: Record<string, unknown> | undefined
  readonly expect: {
    readonly allowed: boolean
    readonly fields?: readonly string[] | undefined
    readonly count?: number | undefined
  }
}

/** The collection that a test names. Throws 422 for an unknown one, and for a system collection. */
export function expectedOf(model: Model, name: string): Collection {
  const collection = model.byName.get(name)
  if (collection?.isSystem === false) return collection
  const reason =
    collection === undefined
      ? `${shortName(name)} is not a collection${didYouMean(name, model.byName.keys())}`
      : `${name} is a collection of the system, of which no access test is kept`
  throw nested('invalid', ['Failed to read the JSON body', 'collection', reason])
}

/** Converts names to ids. Throws 422 with the place of an unknown name or an invalid filter. */
export function storedExpectation(sent: Expectation, collection: Collection, model: Model): Expectation {
  const stored = (what: PolicyAction, path: string) =>
    storedAction(what, { names: namesOf(model), collection, path }) as Exclude<PolicyAction, 'all'>
  const { fields } = stored(fieldsOf(sent), 'expect') as { readonly fields?: readonly string[] }
  const { filter } = stored(filterOf(sent), '') as Pick<Expectation, 'filter'>
  const field = sent.field === undefined ? undefined : collection.fields.get(sent.field)
  if (sent.field !== undefined && field === undefined) {
    const reason = `${shortName(sent.field)} is not a field of ${collection.apiName}${didYouMean(sent.field, collection.fields.keys())}`
    throw nested('invalid', ['Failed to read the JSON body', 'field', reason])
  }
  return changed(sent, { field: field?.id, fields, filter })
}

/** Converts ids to current names; undefined if the filter is no longer valid. */
export function shownExpectation(stored: Expectation, collection: Collection): Expectation | undefined {
  const [named, filtered] = [shownAction(fieldsOf(stored), collection), shownAction(filterOf(stored), collection)]
  if (named === undefined || filtered === undefined) return undefined
  const { fields } = named as { readonly fields?: readonly string[] }
  const { filter } = filtered as Pick<Expectation, 'filter'>
  const field = stored.field === undefined ? undefined : fieldById(collection, stored.field)?.apiName
  return changed(stored, { field, fields, filter })
}

/** True if the expectation depends on existing items, so that only callers who may read all of them may see it. */
export function isOfItems({ key, filter, expect }: Expectation): boolean {
  return key !== undefined || filter !== undefined || expect.count !== undefined
}

function fieldsOf({ expect: { fields } }: Expectation): PolicyAction {
  return fields === undefined ? {} : { fields: [...fields] }
}

function filterOf({ filter }: Expectation): PolicyAction {
  return filter === undefined ? {} : { filter }
}

type Named = Pick<Expectation, 'field' | 'filter'> & { readonly fields: readonly string[] | undefined }

function changed({ action, key, expect }: Expectation, { field, fields, filter }: Named): Expectation {
  const { allowed, count } = expect
  return {
    action,
    ...(key !== undefined && { key }),
    ...(field !== undefined && { field }),
    ...(filter !== undefined && { filter }),
    expect: { allowed, ...(fields !== undefined && { fields }), ...(count !== undefined && { count }) },
  }
}
