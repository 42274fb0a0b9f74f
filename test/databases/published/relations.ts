/** Relations of an imported schema against the joins of its database, two levels deep. */

import { columnOf, read, type Subject } from './laws.ts'
import type { Offered, OfferedRelation } from './offers.ts'
import { expected, shown } from './shown.ts'

type Item = Readonly<Record<string, unknown>>

/** Each relation with those of its target, and every item in it against a join. */
export async function relationFaults(
  subject: Subject,
  subjects: ReadonlyMap<string, Subject>,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const relation of subject.collection.relations) {
    const target = subjects.get(relation.target)
    if (target === undefined) {
      faults.push(`${subject.table.id}: ${relation.apiName} leads to ${relation.target}, which is not there`)
      continue
    }
    if (relation.through !== undefined) faults.push(...(await throughFaults(subject, target, relation)))
    else faults.push(...(await nestedFaults(subject, target, { relation, subjects })))
  }
  return faults
}

/** So that a request keeps within what it may bring: items × list × lists in it. */
const [ITEMS, MEMBERS, RELATIONS] = [8, 20, 5]
/** Fields that a request may name. */
const FIELDS = 200

function bounded({ collection }: Subject, names: readonly string[]): object {
  const lists = collection.relations.filter(({ apiName, isList }) => isList && names.includes(apiName))
  const deep = Object.fromEntries(lists.map(({ apiName }) => [apiName, { _limit: MEMBERS }]))
  return { limit: ITEMS, ...(lists.length > 0 && { deep }) }
}

type Nested = { readonly relation: OfferedRelation; readonly subjects: ReadonlyMap<string, Subject> }

async function nestedFaults(
  subject: Subject,
  target: Subject,
  { relation, subjects }: Nested,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const part of partsOf(subject, target, subjects)) {
    const nested = part.map(({ apiName }) => `${relation.apiName}.${apiName}.*`)
    const fields = ['*', `${relation.apiName}.*`, ...nested].join()
    const answer = await read(subject, { fields, ...bounded(subject, [relation.apiName]) })
    if ('fault' in answer) {
      faults.push(answer.fault)
      continue
    }
    faults.push(...(await linkFaults({ subject, relation, target, items: answer.items })))
    const items = answer.items.flatMap((item) => membersOf(item, relation))
    for (const next of part) {
      const end = subjects.get(next.target)
      if (end === undefined || next.through !== undefined) continue
      faults.push(...(await linkFaults({ subject: target, relation: next, target: end, items })))
    }
  }
  return faults
}

/**
 * The target's relations by requests, one at least. Those that are too wide for any are compared one level deep alone,
 * as the target's own.
 */
function partsOf(
  subject: Subject,
  target: Subject,
  subjects: ReadonlyMap<string, Subject>,
): readonly (readonly OfferedRelation[])[] {
  // A relation counts as a field.
  const left = FIELDS - subject.collection.fields.length - target.collection.fields.length - 1
  const width = (one: OfferedRelation) => 1 + (subjects.get(one.target)?.collection.fields.length ?? 0)
  const parts: OfferedRelation[][] = [[]]
  for (const one of target.collection.relations) {
    if (width(one) > left) continue
    const last = parts.at(-1) ?? []
    const isFull = last.length === RELATIONS || width(one) + last.reduce((sum, next) => sum + width(next), 0) > left
    if (isFull) parts.push([one])
    else last.push(one)
  }
  return parts
}

/** A many-to-many field shows what the relations to and from the junction lead to. */
async function throughFaults(subject: Subject, target: Subject, relation: OfferedRelation): Promise<readonly string[]> {
  const { near, far } = relation.through ?? { near: relation, far: relation }
  const fields = ['*', `${relation.apiName}.*`, `${near.apiName}.${far.apiName}.*`].join()
  const answer = await read(subject, { fields, ...bounded(subject, [relation.apiName, near.apiName]) })
  if ('fault' in answer) return [answer.fault]
  return answer.items.flatMap((item) => {
    const wanted = membersOf(item, near).flatMap((row) => membersOf(row, far))
    const texts = [wanted, membersOf(item, relation)].map((all) =>
      [...new Set(all.map((one) => asItem(target.collection, one)))].sort().join(),
    )
    return texts[0] === texts[1]
      ? []
      : [`${subject.table.id}: ${relation.apiName} is ${texts[1]} instead of ${texts[0]}`]
  })
}

type Linked = {
  readonly subject: Subject
  readonly relation: OfferedRelation
  readonly target: Subject
  readonly items: readonly Item[]
}

/** What each item shows of a relation, against what the database joins. */
async function linkFaults({ subject, relation, target, items }: Linked): Promise<readonly string[]> {
  const { dialect, imported, table } = subject
  const list = (one: Subject, alias: string) =>
    one.collection.fields.map((field) =>
      dialect
        .text(columnOf(one, field))
        .replaceAll(dialect.quote(field.dbName), `${alias}.${dialect.quote(field.dbName)}`),
    )
  const on = relation.linked.map(([own, other]) => `a.${dialect.quote(own)} = b.${dialect.quote(other)}`).join(' and ')
  const place = (one: Subject) => `${dialect.quote(one.table.schema)}.${dialect.quote(one.table.name)}`
  const columns = [...list(subject, 'a'), ...list(target, 'b')].map((column, at) => `${column} as c${at}`)
  const text = `select ${columns} from ${place(subject)} a join ${place(target)} b on ${on}`
  const joined = new Map<string, string[]>()
  for (const row of await imported.driver.query({ text, params: [] })) {
    const size = subject.collection.fields.length
    const own = asRow(subject.collection, row.slice(0, size))
    joined.set(own, [...(joined.get(own) ?? []), asRow(target.collection, row.slice(size))])
  }
  const faults: string[] = []
  for (const item of items) {
    const wanted = [...new Set(joined.get(asItem(subject.collection, item)) ?? [])].sort()
    const found = [...new Set(membersOf(item, relation).map((one) => asItem(target.collection, one)))].sort()
    const isOne = !relation.isList && found.length === 1 && wanted.includes(found[0] ?? '')
    if (!isOne && wanted.length < MEMBERS && JSON.stringify(found) !== JSON.stringify(wanted)) {
      faults.push(
        `${table.id}: ${relation.apiName} of ${asItem(subject.collection, item)} is ${found} instead of ${wanted}`,
      )
    }
  }
  return faults
}

function asRow({ fields }: Offered, row: readonly (string | null)[]): string {
  return JSON.stringify(fields.map((field, place) => (field.type === 'geometry' ? '' : expected(row[place], field))))
}

function asItem({ fields }: Offered, item: Item): string {
  return JSON.stringify(fields.map((field) => (field.type === 'geometry' ? '' : shown(item[field.apiName], field))))
}

/** The items that one shows of a relation; a column of theirs may be called `data`, too. */
function membersOf(item: Item, { apiName, isList }: Pick<OfferedRelation, 'apiName' | 'isList'>): readonly Item[] {
  const value = item[apiName]
  if (value === null || value === undefined) return []
  return isList ? (value as { data: readonly Item[] }).data : [value as Item]
}
