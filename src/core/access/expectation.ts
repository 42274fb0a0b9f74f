/** What an access test expects (docs/contract.md#access-tests): as it is sent, by names, and as it is stored, by ids. */
import { nested } from '../error.ts'
import { shortName } from '../message-text.ts'
import type { Collection, Model } from '../model/model.ts'
import { didYouMean } from '../nearest.ts'
import type { Action } from './access.ts'
import { fieldById, namesOf, type PolicyAction, shownAction, storedAction } from './policy.ts'

/** Of a workspace, since each may ask a data source when rights are changed. */
export const MOST_ACCESS_TESTS = 100

/** With `field`, `allowed` is of the action with that field; `fields` are those that the action may be done with in some items, exactly; `count` is how many items are read. */
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

/** The collection that a test names; throws 422 where there is none, or it is one of the system, which is not kept with the model. */
export function expectedOf(model: Model, name: string): Collection {
  const collection = model.byName.get(name)
  if (collection?.isSystem === false) return collection
  const reason =
    collection === undefined
      ? `${shortName(name)} is not a collection${didYouMean(name, model.byName.keys())}`
      : `${name} is a collection of the system, of which no access test is kept`
  throw nested('invalid', ['Failed to read the JSON body', 'collection', reason])
}

/** By ids. Throws 422 with the place of a name that is none, or of a filter that is wrong. */
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

/** By the names of today; undefined where its filter means nothing any more. */
export function shownExpectation(stored: Expectation, collection: Collection): Expectation | undefined {
  const [named, filtered] = [shownAction(fieldsOf(stored), collection), shownAction(filterOf(stored), collection)]
  if (named === undefined || filtered === undefined) return undefined
  const { fields } = named as { readonly fields?: readonly string[] }
  const { filter } = filtered as Pick<Expectation, 'filter'>
  const field = stored.field === undefined ? undefined : fieldById(collection, stored.field)?.apiName
  return changed(stored, { field, fields, filter })
}

/** Whether it is about items that there are, and so only for those who read all of them. */
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
