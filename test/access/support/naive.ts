/**
 * The rules of docs/contract.md#how-policies-act and decision 012 over rows in memory, as naively as can be and without
 * a line of the core: what a caller reads, whether a write is refused and with which status, and what it leaves behind.
 * A write is carried out step by step in the order in which the rules tell it.
 */
import { pathHolds } from '../../property/support/inside.ts'
import { operatorHolds, ordered, type Truth } from '../../property/support/oracle.ts'
import type { Arguments, Request, Tree } from '../../property/support/request.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import type { TypeText } from '../../property/support/shop.ts'
import {
  identified,
  junction,
  type Link,
  links,
  membersOf,
  type Name,
  now,
  shop,
  sortedDetails,
  type Way,
  ways,
} from './library.ts'
import type { ActionName, Caller, Policy } from './policies.ts'
import type { Write } from './writes.ts'

export type Answer =
  | { readonly status: 200; readonly data: readonly Row[]; readonly total?: number }
  | { readonly status: 403 | 404 | 422 }

export type Limits = { readonly default: number; readonly max: number }

export type Naive = {
  list(collection: Name, request: Request, limits: Limits): Answer
  /** The rows afterwards are the rows before where it is refused; `isTaken` where that is for a key that another row has. */
  write(write: Write): { readonly answer: Answer; readonly rows: Rows; readonly isTaken: boolean }
  /** Members that some policy allows for this. */
  members(collection: Name, action: ActionName): ReadonlySet<string>
  /** Whether some policy speaks of it. */
  isAllowed(collection: Name, action: ActionName): boolean
  isReadable(collection: Name, row: Row): boolean
  isKeySeen(collection: Name): boolean
  isSeen(collection: Name, row: Row, member: string): boolean
}

class Refusal extends Error {
  readonly status: 403 | 404 | 422
  /** Whether another row has the key already. */
  readonly isTaken: boolean

  constructor(status: 403 | 404 | 422, isTaken = false) {
    super(String(status))
    this.status = status
    this.isTaken = isTaken
  }
}

function demandFree(rows: readonly Row[], own: Row): void {
  if (rows.some((row) => row !== own && row.id === own.id)) throw new Refusal(422, true)
}

function demand(condition: boolean, status: 403 | 404 | 422): void {
  if (!condition) throw new Refusal(status)
}

/** Its filters with what their variables stand for. */
type Grant = {
  readonly fields: ReadonlySet<string>
  readonly filter: Tree
  readonly check: Tree | undefined
  readonly validation: Tree
}
type State = Record<Name, Row[]>

/** Whose eyes a filter looks through. */
type Eyes = {
  readonly value: (collection: Name, row: Row, field: string) => unknown
  /** Undefined where the relation itself is hidden in this row. */
  readonly related: (collection: Name, row: Row, relation: string) => readonly Row[] | undefined
}

/** `database` is the title of its dialect: JSON has no order of its own. */
export function naiveRules(
  policies: readonly Policy[],
  caller: Caller,
  rows: Rows,
  database: 'PostgreSQL' | 'MariaDB' = 'PostgreSQL',
): Naive {
  const ranks = sortedDetails[database]?.map((value) => JSON.stringify(value)) ?? []
  const rankOf = (value: unknown) => (value === null ? null : ranks.indexOf(JSON.stringify(value)))
  const speaking = policies.filter(
    ({ collections }) => caller.userId !== undefined || !JSON.stringify(collections).includes('"$CURRENT_USER"'),
  )
  let state = copyOf(rows)
  /** What new items of this operation refer to. */
  const lookedUp = new Set<string>()

  const granted = new Map<string, readonly Grant[]>()

  function grants(collection: Name, action: ActionName): readonly Grant[] {
    const known = granted.get(`${collection} ${action}`) ?? grantsOf(collection, action)
    granted.set(`${collection} ${action}`, known)
    return known
  }

  function grantsOf(collection: Name, action: ActionName): readonly Grant[] {
    const everything = { fields: new Set(membersOf(collection)), filter: {}, check: undefined, validation: {} }
    return speaking.flatMap(({ collections }) => {
      const part = collections[collection]?.[action]
      if (part === undefined) return []
      if (part === 'all') return [everything]
      const { fields = '*', filter = {}, check, validation = {} } = part
      return [
        {
          fields: fields === '*' ? everything.fields : new Set(fields),
          filter: bound(filter, caller),
          check: check && bound(check, caller),
          validation: bound(validation, caller),
        },
      ]
    })
  }

  const everybody: Eyes = {
    value: (_, row, field) => row[field],
    related: (collection, row, relation) => joined(collection, row, relation),
  }
  const callers: Eyes = {
    value: (collection, row, field) => (isSeen(collection, row, field) ? row[field] : null),
    related(collection, row, relation) {
      if (!isSeen(collection, row, relation)) return undefined
      const target = targetOf(collection, relation)
      return joined(collection, row, relation, countsForCaller).filter((one) => isReadable(target, one))
    },
  }

  /** Links that a policy hides, or whose end it hides, do not count. */
  function countsForCaller({ far }: Way, link: Row): boolean {
    return isReadable(far.child, link) && isSeen(far.child, link, far.name)
  }

  function joined(
    collection: Name,
    row: Row,
    relation: string,
    counts: (way: Way, link: Row) => boolean = () => true,
  ): readonly Row[] {
    const way = wayOf(collection, relation)
    if (way !== undefined) {
      const { near, far } = way
      const linked = state[near.child].filter((link) => link[near.column] === row.id && counts(way, link))
      return state[far.parent].filter(({ id }) => linked.some((link) => link[far.column] === id))
    }
    const { link, isForward } = linkOf(collection, relation)
    if (isForward) return state[link.parent].filter(({ id }) => id === row[link.column])
    return state[link.child].filter((one) => one[link.column] === row.id)
  }

  /** Whether the filter holds, whatever becomes of the links that are yet to be written. */
  const meets = (filter: Tree, collection: Name, row: Row, later: readonly Link[]) =>
    holds(everybody, collection, later.length === 0 ? filter : loosened(collection, filter, later), row) === true
  const admits = ({ filter }: Grant, collection: Name, row: Row, later: readonly Link[] = []) =>
    meets(filter, collection, row, later)
  const approves = ({ validation }: Grant, collection: Name, row: Row, later: readonly Link[] = []) =>
    meets(validation, collection, row, later)

  function isReadable(collection: Name, row: Row): boolean {
    return grants(collection, 'read').some((grant) => admits(grant, collection, row))
  }

  function isSeen(collection: Name, row: Row, member: string): boolean {
    return grants(collection, 'read').some((grant) => grant.fields.has(member) && admits(grant, collection, row))
  }

  function members(collection: Name, action: ActionName): ReadonlySet<string> {
    return new Set(grants(collection, action).flatMap(({ fields }) => [...fields]))
  }

  // What may be named at all, whatever the rows are.

  function mayDo(collection: Name, action: ActionName): void {
    demand(grants(collection, action).length > 0, 403)
  }

  function mayName(collection: Name, action: ActionName, member: string): void {
    demand(members(collection, action).has(member), 403)
  }

  /** Whether a relation may be followed at all. */
  function mayFollow(collection: Name, relation: string): void {
    mayDo(targetOf(collection, relation), 'read')
    const way = wayOf(collection, relation)
    if (way === undefined) return
    mayDo(way.far.child, 'read')
    mayName(way.far.child, 'read', way.far.name)
  }

  function mayFilter(collection: Name, filter: Tree | undefined): void {
    if (filter === undefined) return
    for (const [name, part] of Object.entries(filter)) {
      if (name === '_and' || name === '_or') for (const one of part as Tree[]) mayFilter(collection, one)
      else if (name === '_not' || name === '_some' || name === '_every' || name === '_none')
        mayFilter(collection, part as Tree)
      else {
        mayName(collection, 'read', name)
        if (!isRelation(collection, name)) continue
        mayFollow(collection, name)
        mayFilter(targetOf(collection, name), part as Tree)
      }
    }
  }

  function maySort(collection: Name, sort: Request['sort'] = []): void {
    for (const path of sort.flatMap((entry) => Object.keys(entry))) {
      let from = collection
      for (const name of path.split('.')) {
        mayName(from, 'read', name)
        if (!isRelation(from, name)) continue
        mayFollow(from, name)
        from = targetOf(from, name)
      }
    }
  }

  function maySelect(collection: Name, { fields, deep }: { fields: readonly string[]; deep: Tree }): void {
    for (const path of fields) {
      const [name = '', ...rest] = path.split('.')
      if (name === '*' || name === '_etag') continue
      mayName(collection, 'read', name)
      if (!isRelation(collection, name)) continue
      mayFollow(collection, name)
      const target = targetOf(collection, name)
      const below = (deep[name] ?? {}) as Arguments & Tree
      mayFilter(target, below._filter)
      maySort(target, below._sort)
      maySelect(target, { fields: rest.length === 0 ? ['*'] : [rest.join('.')], deep: below })
    }
  }

  function mayAnswer(collection: Name, fields: readonly string[] = ['*']): void {
    maySelect(collection, { fields, deep: {} })
  }

  function mayCreate(collection: Name, body: Row): void {
    mayDo(collection, 'create')
    for (const name of Object.keys(body)) mayName(collection, 'create', name)
    mayNest(collection, body)
  }

  function mayUpdate(collection: Name, body: Row): void {
    mayDo(collection, 'update')
    for (const name of Object.keys(body)) mayName(collection, 'update', name)
    for (const [name, value] of Object.entries(body)) {
      if (!isOperator(value)) continue
      mayDo(collection, 'read')
      mayName(collection, 'read', name)
    }
    mayNest(collection, body)
  }

  function mayNest(collection: Name, body: Row): void {
    // Whoever may not follow a many-to-many field links nothing by it.
    for (const name of Object.keys(body)) if (wayOf(collection, name) !== undefined) mayFollow(collection, name)
    for (const { relation, kind, content } of operationsOf(collection, body)) {
      const target = targetOf(collection, relation)
      const { isForward } = linkOf(collection, relation)
      if (content.filter !== undefined) mayDo(target, 'read')
      mayFilter(target, content.filter)
      if (kind === '_link') for (const item of listOf(content.data)) mayCreate(target, item)
      if (kind === '_create') for (const item of listOf(content.data)) mayCreate(target, item)
      if (kind === '_update') mayUpdate(target, content.data as Row)
      if (kind === '_delete') mayDo(target, 'delete')
      if (kind === '_connect') {
        mayDo(target, 'read')
        for (const key of listOf(content.keys ?? content.key)) {
          for (const name of Object.keys(key)) mayName(target, 'read', name)
        }
      }
      if (!isForward && (kind === '_connect' || kind === '_disconnect')) mayDo(target, 'update')
    }
  }

  // Reading.

  function list(collection: Name, request: Request, limits: Limits): Answer {
    const { fields = ['*'], deep = {}, filter, sort = [], limit = limits.default, offset = 0, meta } = request
    return answered(() => {
      mayDo(collection, 'read')
      mayFilter(collection, filter)
      maySort(collection, sort)
      maySelect(collection, { fields, deep })
      const matching = found(collection, filter)
      const page = paged(collection, matching, { sort, limit, offset, max: limits.max })
      const data = page.map((row) => shaped(collection, row, { fields, deep, max: limits.max }))
      return { status: 200, data, ...(meta === 'totalCount' && { total: matching.length }) }
    })
  }

  function found(collection: Name, filter: Tree = {}): readonly Row[] {
    return state[collection].filter(
      (row) => isReadable(collection, row) && holds(callers, collection, filter, row) === true,
    )
  }

  /** Whether the key may be read in every row that may. */
  function isKeySeen(collection: Name): boolean {
    const read = grants(collection, 'read')
    return keyNames(collection).every((name) => {
      const telling = read.filter(({ fields }) => fields.has(name))
      return telling.length === read.length || telling.some(({ filter }) => Object.keys(filter).length === 0)
    })
  }

  function keyNames(collection: Name): readonly string[] {
    return collection === junction.name ? junction.key : ['id']
  }

  type Sorting = { direction?: 'asc' | 'desc'; nulls?: 'first' | 'last' }
  type Page = { sort: NonNullable<Request['sort']>; limit: number; offset: number; max: number }

  function paged(collection: Name, rows: readonly Row[], { sort, limit, offset, max }: Page): readonly Row[] {
    const key = keyNames(collection)
    const seen = [...(shop.fields.get(collection)?.keys() ?? [])].filter((name) =>
      members(collection, 'read').has(name),
    )
    const asked = sort.flatMap((entry) => Object.entries<Sorting>(entry))
    const last = asked.findLast(([name], place) => asked.findIndex(([other]) => other === name) === place)
    const tied = last?.[1].direction ?? 'asc'
    const entries: (readonly [string, Sorting])[] = [
      ...asked,
      ...(isKeySeen(collection) ? key : seen).map((name) => [name, { direction: tied }] as const),
    ]
    const sorted = rows.toSorted((one, other) => {
      for (const [path, { direction = 'asc', nulls = direction === 'asc' ? 'last' : 'first' }] of entries) {
        const names = path.split('.')
        const type = typeAt(collection, names)
        const [left, right] = [one, other].map((row) => {
          const value = valueAt(collection, row, names)
          return type?.name === 'json' ? rankOf(value) : value
        })
        const order = ordered(type, left, right, { direction, nulls })
        if (order !== 0) return order
      }
      return (Number(one.id) - Number(other.id)) * (tied === 'asc' ? 1 : -1)
    })
    return sorted.slice(offset, offset + (limit <= 0 ? max : limit))
  }

  function typeAt(collection: Name, [name = '', ...path]: readonly string[]): TypeText | undefined {
    if (path.length > 0) return typeAt(targetOf(collection, name), path)
    return shop.fields.get(collection)?.get(name)
  }

  /** What the caller would read there; null where a relation leads to nothing that it sees. */
  function valueAt(collection: Name, row: Row, [name = '', ...path]: readonly string[]): unknown {
    if (path.length === 0) return callers.value(collection, row, name)
    const [related] = callers.related(collection, row, name) ?? []
    return related === undefined ? null : valueAt(targetOf(collection, name), related, path)
  }

  type Asked = { readonly fields: readonly string[]; readonly deep: Tree; readonly max: number }

  function shaped(collection: Name, row: Row, { fields, deep, max }: Asked): Row {
    const item: Record<string, unknown> = {}
    const below = new Map<string, string[]>()
    for (const path of fields) {
      const [name = '', ...rest] = path.split('.')
      const primitives = [...(shop.fields.get(collection)?.keys() ?? [])]
      const chosen = name === '*' ? primitives.filter((one) => members(collection, 'read').has(one)) : [name]
      for (const one of chosen) {
        if (one === '_etag') item[one] = shownText(collection, row)
        else if (isRelation(collection, one))
          below.set(one, [...(below.get(one) ?? []), rest.length === 0 ? '*' : rest.join('.')])
        else item[one] = callers.value(collection, row, one)
      }
    }
    for (const [name, paths] of below) {
      const related = callers.related(collection, row, name)
      const inner = { fields: paths, deep: (deep[name] ?? {}) as Tree, max }
      item[name] = related === undefined ? null : nested(collection, name, related, inner)
    }
    return item
  }

  /** Stands for the tag: rows have one tag where they read alike. */
  function shownText(collection: Name, row: Row): string {
    return JSON.stringify(shaped(collection, row, { fields: ['*'], deep: {}, max: 0 }))
  }

  function nested(collection: Name, relation: string, related: readonly Row[], asked: Asked): unknown {
    const target = targetOf(collection, relation)
    const { _filter = {}, _sort = [], _limit = Math.min(100, asked.max), _offset = 0 } = asked.deep as Arguments
    const matching = related.filter((row) => holds(callers, target, _filter, row) === true)
    if (!isList(collection, relation)) {
      const [only] = matching
      return only === undefined ? null : shaped(target, only, asked)
    }
    const page = paged(target, matching, { sort: _sort, limit: _limit, offset: _offset, max: asked.max })
    return { data: page.map((row) => shaped(target, row, asked)) }
  }

  // Writing.

  function write(asked: Write): { readonly answer: Answer; readonly rows: Rows; readonly isTaken: boolean } {
    const before = copyOf(state)
    let isTaken = false
    const answer = answered(
      () => ({ status: 200, data: written(asked) }),
      (refusal) => {
        isTaken = refusal.isTaken
        return { status: refusal.status }
      },
    )
    const after = copyOf(answer.status === 200 ? state : before)
    state = before
    return { answer, rows: after, isTaken }
  }

  function written(asked: Write): readonly Row[] {
    const { collection, request } = asked
    lookedUp.clear()
    const fields = request.fields ?? ['*']
    mayDo(
      collection,
      asked.kind === 'create' || asked.kind === 'upsert'
        ? 'create'
        : asked.kind.startsWith('update')
          ? 'update'
          : 'delete',
    )
    if (request.filter !== undefined) mayDo(collection, 'read')
    mayFilter(collection, request.filter)
    const isSilent = asked.kind.startsWith('delete') && request.fields === undefined
    if (!isSilent) mayAnswer(collection, request.fields)
    const items = (rows: readonly Row[]) =>
      rows.map((row) => (isSilent ? {} : shaped(collection, row, { fields, deep: {}, max: 10_000 })))
    switch (asked.kind) {
      case 'create': {
        for (const item of asked.items) mayCreate(collection, item)
        return items(asked.items.map((item) => create(collection, item)))
      }
      case 'upsert':
        return items(upsert(collection, asked))
      case 'updateOne':
      case 'updateMany': {
        mayUpdate(collection, asked.body)
        const targets = targetsOf(asked)
        update(collection, targets, asked.body)
        return items(targets)
      }
      case 'updateEach': {
        for (const { body } of asked.changes) mayUpdate(collection, body)
        const targets = asked.changes.map(({ key }) => itemNamed(collection, key))
        for (const [index, { body }] of asked.changes.entries())
          update(collection, targets.slice(index, index + 1), body)
        return items(targets)
      }
      case 'deleteOne':
      case 'deleteMany': {
        const targets = targetsOf(asked)
        const answer = items(targets)
        remove(collection, targets)
        return answer
      }
    }
  }

  /** In the order of their keys. */
  function upsert(collection: Name, asked: Extract<Write, { kind: 'upsert' }>): readonly Row[] {
    const key: readonly string[] = collection === junction.name ? junction.key : ['id']
    const isUpdate = asked.do === 'update'
    const rest = (item: Row) => Object.fromEntries(Object.entries(item).filter(([name]) => !key.includes(name)))
    mayDo(collection, 'read')
    for (const name of key) mayName(collection, 'read', name)
    for (const item of asked.items) mayCreate(collection, item)
    if (isUpdate) for (const item of asked.items) mayUpdate(collection, rest(item))
    const written = new Map<Row, Row>()
    const textOf = (item: Row) => JSON.stringify(key.map((name) => String(item[name])))
    for (const item of asked.items.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1))) {
      const isThere = (row: Row) => key.every((name) => callers.value(collection, row, name) === item[name])
      const row = found(collection).find(isThere)
      if (row !== undefined && isUpdate) update(collection, [row], rest(item))
      written.set(item, row ?? create(collection, item))
    }
    return asked.items.map((item) => written.get(item) ?? {})
  }

  function itemNamed(collection: Name, key: number): Row {
    const target = found(collection).find((row) => callers.value(collection, row, 'id') === key)
    if (target === undefined) throw new Refusal(404)
    return target
  }

  function targetsOf(asked: Exclude<Write, { kind: 'create' | 'upsert' | 'updateEach' }>): readonly Row[] {
    const rows = found(asked.collection, asked.request.filter)
    if (!('key' in asked)) {
      demand(rows.length <= (asked.max ?? rows.length), 422)
      return rows
    }
    const [target] = rows.filter((row) => callers.value(asked.collection, row, 'id') === asked.key)
    if (target === undefined) throw new Refusal(404)
    return [target]
  }

  type How = { collection: Name; action: 'create' | 'update' | 'delete'; given: readonly string[] }

  /** Each field needs a grant that has it; a write of no field needs any grant. */
  function setsOf({ collection, action, given }: How): readonly (readonly Grant[])[] {
    const all = grants(collection, action)
    return given.length === 0 ? [all] : given.map((name) => all.filter(({ fields }) => fields.has(name)))
  }

  function checkBefore(rows: readonly Row[], how: How, later?: readonly Link[]): void {
    for (const row of rows) {
      for (const set of setsOf(how)) {
        demand(
          set.some((grant) => admits(grant, how.collection, row, later)),
          403,
        )
      }
    }
  }

  function checkCreated(row: Row, how: How, later?: readonly Link[]): void {
    checkBefore([row], how, later)
    for (const set of setsOf(how)) {
      demand(
        set.some((grant) => approves(grant, how.collection, row, later)),
        422,
      )
    }
  }

  /**
   * Returns the check of what becomes of the rows: a grant with a check allows what it admitted before to become what
   * meets the check; all others together allow what one of them admitted to become what another one does.
   */
  function checkUpdate(
    rows: readonly Row[],
    collection: Name,
    given: readonly string[],
  ): (later?: readonly Link[]) => void {
    const how: How = { collection, action: 'update', given }
    checkBefore(rows, how)
    const open = rows.flatMap((row) =>
      setsOf(how).map((set) => {
        const plain = set.filter((grant) => grant.check === undefined)
        const before = set.filter((grant) => admits(grant, collection, row))
        const shared = before.some((grant) => grant.check === undefined) ? plain : []
        return { row, ways: [...shared, ...before.filter((grant) => grant.check !== undefined)] }
      }),
    )
    return (later = []) => {
      const becomes = ({ filter, check = filter }: Grant, row: Row) => meets(check, collection, row, later)
      for (const { row, ways } of open)
        demand(
          ways.some((grant) => becomes(grant, row)),
          403,
        )
      for (const { row, ways } of open) {
        demand(
          ways.some((grant) => becomes(grant, row) && approves(grant, collection, row, later)),
          422,
        )
      }
    }
  }

  function create(collection: Name, body: Row, parent?: Parent): Row {
    let row: Row = {}
    const give = (name: string, value: unknown) => {
      row = { ...row, [name]: value }
    }
    for (const name of shop.fields.get(collection)?.keys() ?? []) give(name, body[name] ?? null)
    if (parent !== undefined) give(parent.link.column, parent.id)
    for (const { relation, kind, content } of operationsOf(collection, body)) {
      const { link, isForward } = linkOf(collection, relation)
      const known = parent?.far?.find((end) => end.link === link)
      if (isForward) give(link.column, (known ?? referred(link, kind, content)).id)
    }
    row = identified(collection, row)
    referBySight(collection, body)
    demandFree(state[collection], row)
    state[collection].push(row)
    refer(collection, row)
    const given = [...Object.keys(body), ...(parent === undefined ? [] : [parent.link.name])]
    const below = Object.keys(body).filter((name) => isRelation(collection, name) && isList(collection, name))
    const later = below.flatMap((name) => linksOf(collection, name))
    if (later.length > 0) checkCreated(row, { collection, action: 'create', given }, later)
    for (const { relation, kind, content } of operationsOf(collection, body)) {
      const { link, isForward } = linkOf(collection, relation)
      if (!isForward) backward(link, row, kind, content)
    }
    checkCreated(row, { collection, action: 'create', given })
    return row
  }

  /** References hold at the end of every single change. */
  function refer(collection: Name, row: Row): void {
    for (const link of links.filter(({ child }) => child === collection)) {
      const value = row[link.column]
      demand(value === null || state[link.parent].some(({ id }) => id === value), 422)
    }
  }

  /**
   * A reference that is written as a column leads to a row that the caller reads, its key included, or stays as it is.
   * New items of one operation that refer to the same row look it up once, before the first of them.
   */
  function referBySight(collection: Name, body: Row, before?: Row): void {
    for (const { name, column, parent } of links.filter(({ child }) => child === collection)) {
      const value = body[column] ?? null
      if (value === null || value === before?.[column]) continue
      if (before === undefined) {
        const reference = JSON.stringify([collection, name, value])
        if (lookedUp.has(reference)) continue
        lookedUp.add(reference)
      }
      demand(
        found(parent).some((row) => callers.value(parent, row, 'id') === value),
        422,
      )
    }
  }

  function referred(link: Link, kind: Operation['kind'], content: Content): Row {
    if (kind === '_create') return create(link.parent, content.data as Row)
    return named(link.parent, content.key as Row)
  }

  /** The row that a `_connect` names: one that the caller reads, its key included. */
  function named(collection: Name, key: Row): Row {
    const [row] = found(collection).filter((one) =>
      Object.entries(key).every(([name, value]) => callers.value(collection, one, name) === value),
    )
    if (row === undefined) throw new Refusal(422)
    return row
  }

  function update(collection: Name, rows: readonly Row[], body: Row): void {
    const given = Object.keys(body)
    const checkAfter = checkUpdate(rows, collection, given)
    const columns = Object.entries(body).filter(([name]) => !isRelation(collection, name))
    for (const [name, value] of columns) {
      if (isOperator(value)) for (const row of rows) demand(isSeen(collection, row, name), 403)
    }
    for (const row of rows) referBySight(collection, body, row)
    for (const row of rows) {
      const values = columns.map(([name, value]) => [name, isOperator(value) ? altered(row[name], value) : value])
      Object.assign(row, identified(collection, { ...row, ...Object.fromEntries(values) }))
      demandFree(state[collection], row)
      refer(collection, row)
    }
    const relations = Object.keys(body).filter((name) => isRelation(collection, name))
    for (const row of rows) {
      let isChanged = columns.length > 0
      for (const [place, name] of relations.entries()) {
        const later = relations.slice(place).flatMap((one) => linksOf(collection, one))
        for (const { relation, kind, content } of operationsOf(collection, { [name]: body[name] })) {
          const { link, isForward } = linkOf(collection, relation)
          if (isChanged) checkAfter(later)
          if (isForward) forward(link, row, kind, content)
          else backward(link, row, kind, content)
          isChanged = isForward
        }
      }
    }
    checkAfter()
  }

  function forward(link: Link, row: Row, kind: Operation['kind'], content: Content): void {
    const linked = () => found(link.parent, content.filter).filter(({ id }) => id === row[link.column])
    switch (kind) {
      case '_connect':
      case '_create':
        set(row, link.column, referred(link, kind, content).id)
        return
      case '_update':
        update(link.parent, linked(), content.data as Row)
        return
      case '_disconnect':
        set(row, link.column, null)
        return
      case '_delete': {
        const targets = linked()
        if (targets.length > 0) set(row, link.column, null)
        remove(link.parent, targets)
        return
      }
    }
  }

  function backward(link: Link, row: Row, kind: Operation['kind'], content: Content): void {
    const linked = () => found(link.child, content.filter).filter((one) => one[link.column] === row.id)
    switch (kind) {
      case '_create':
        for (const item of listOf(content.data)) create(link.child, item, { link, id: row.id })
        return
      case '_link':
        connectThrough(link, row, listOf(content.data))
        return
      case '_connect':
        relink(link, [...new Set(listOf(content.keys).map((key) => named(link.child, key)))], row.id)
        return
      case '_update':
        update(link.child, linked(), content.data as Row)
        return
      case '_disconnect':
        relink(link, linked(), null)
        return
      case '_delete':
        remove(link.child, linked())
        return
    }
  }

  /** All rows are found before the first is linked, which may hide them, and none is linked twice. */
  function connectThrough(near: Link, row: Row, items: readonly Row[]): void {
    const ends = items.map((item) =>
      operationsOf(near.child, item).map(({ relation, content }) => {
        const { link } = linkOf(near.child, relation)
        return { link, id: named(link.parent, content.key as Row).id }
      }),
    )
    for (const [index, item] of items.entries()) {
      const far = ends[index] ?? []
      const linked = state[near.child].some(
        (one) => one[near.column] === row.id && far.every(({ link, id }) => one[link.column] === id),
      )
      if (!linked) create(near.child, item, { link: near, id: row.id, far })
    }
  }

  /** A change of the far rows' reference is an update of their relation back, and moves no key. */
  function relink(link: Link, rows: readonly Row[], id: unknown): void {
    const checkAfter = checkUpdate(rows, link.child, [link.name])
    if (link.child === junction.name)
      demand(
        rows.every((row) => row[link.column] === id),
        422,
      )
    for (const row of rows) set(row, link.column, id)
    checkAfter()
  }

  function remove(collection: Name, rows: readonly Row[]): void {
    checkBefore(rows, { collection, action: 'delete', given: [] })
    state[collection] = state[collection].filter((row) => !rows.includes(row))
    for (const link of links.filter(({ parent }) => parent === collection)) {
      demand(!state[link.child].some((one) => rows.some(({ id }) => id === one[link.column])), 422)
    }
  }

  const isAllowed: Naive['isAllowed'] = (collection, action) => grants(collection, action).length > 0
  return { list, write, members, isAllowed, isReadable, isKeySeen, isSeen }
}

function answered(work: () => Answer, refused = ({ status }: Refusal): Answer => ({ status })): Answer {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return refused(error)
    throw error
  }
}

/** A write changes columns as a whole, never what lies inside a value. */
function copyOf(rows: Rows): State {
  const copied = Object.entries(rows).map(([name, some]) => [name, some.map((row) => ({ ...row }))])
  return Object.fromEntries(copied) as State
}

function set(row: Row, column: string, value: unknown): void {
  Object.assign(row, { [column]: value })
}

function isOperator(value: unknown): value is { readonly _increment: number | string } {
  return typeof value === 'object' && value !== null && '_increment' in value
}

function altered(value: unknown, { _increment }: { readonly _increment: number | string }): number | null {
  if (value === null) return null
  const sum = Number(value) + Number(_increment)
  demand(sum >= -(2 ** 31) && sum < 2 ** 31, 422)
  return sum
}

function linkOf(collection: Name, relation: string): { readonly link: Link; readonly isForward: boolean } {
  for (const link of links) {
    if (link.child === collection && link.name === relation) return { link, isForward: true }
    if (link.parent === collection && link.opposite === relation) return { link, isForward: false }
  }
  throw new Error(`there is no ${collection}.${relation}`)
}

function isRelation(collection: Name, member: string): boolean {
  return shop.relations.get(collection)?.has(member) === true
}

function wayOf(collection: Name, relation: string): Way | undefined {
  return ways.find(({ of, name }) => of === collection && name === relation)
}

/** The links that a write of the relation makes or ends. */
function linksOf(collection: Name, relation: string): readonly Link[] {
  const way = wayOf(collection, relation)
  return way === undefined ? [linkOf(collection, relation).link] : [way.near, way.far]
}

function isList(collection: Name, relation: string): boolean {
  return shop.relations.get(collection)?.get(relation)?.isList === true
}

function targetOf(collection: Name, relation: string): Name {
  const way = wayOf(collection, relation)
  if (way !== undefined) return way.far.parent
  const { link, isForward } = linkOf(collection, relation)
  return isForward ? link.parent : link.child
}

type Content = { readonly filter?: Tree; readonly data?: unknown; readonly key?: unknown; readonly keys?: unknown }
type Operation = {
  readonly relation: string
  /** `_link` creates rows of the junction, unless they are there. */
  readonly kind: '_create' | '_connect' | '_update' | '_disconnect' | '_delete' | '_link'
  readonly content: Content
}

/** Where a new item is nested, and what was found for its own references before. */
type Parent = Linked & { readonly far?: readonly Linked[] }
type Linked = { readonly link: Link; readonly id: unknown }

function operationsOf(collection: Name, body: Row): readonly Operation[] {
  return Object.entries(body).flatMap(([relation, value]) => {
    if (!isRelation(collection, relation)) return []
    return listOf(value).map((one): Operation => {
      const [[kind, content] = []] = Object.entries(one)
      const operation = { relation, kind: kind as Operation['kind'], content: content as Content }
      const way = wayOf(collection, relation)
      return way === undefined ? operation : operationOnJunction(way, operation)
    })
  })
}

/** What an operation on a many-to-many field does to the rows of its junction. */
function operationOnJunction({ near, far }: Way, { kind, content }: Operation): Operation {
  const relation = near.opposite
  if (kind === '_disconnect')
    return { relation, kind: '_delete', content: { filter: { [far.name]: content.filter ?? {} } } }
  const rows =
    kind === '_connect'
      ? listOf(content.keys).map((key) => ({ [far.name]: { _connect: { key } } }))
      : listOf(content.data).map((data) => ({ [far.name]: { _create: { data } } }))
  return { relation, kind: kind === '_connect' ? '_link' : '_create', content: { data: rows } }
}

function listOf(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value : [value as Row]
}

/** A policy's filter with what its variables stand for. */
/** A filter with what its variables stand for. */
export function bound(node: Tree, caller: Caller): Tree {
  return JSON.parse(JSON.stringify(node), (_, value) => {
    if (value === '$CURRENT_USER') return caller.userId
    if (value === '$CURRENT_ROLES') return caller.roleIds
    const [, days] = /^\$NOW(?:\((.*) days?\))?$/.exec(String(value)) ?? [null, null]
    if (days === null) return value
    return new Date(now + Number(days ?? 0) * 86_400_000).toISOString().slice(0, 10)
  })
}

function holds(eyes: Eyes, collection: Name, filter: Tree, row: Row): Truth {
  const truths = Object.entries(filter).map(([name, part]): Truth => {
    if (name === '_and') return all((part as Tree[]).map((one) => holds(eyes, collection, one, row)))
    if (name === '_or') return negated(all((part as Tree[]).map((one) => negated(holds(eyes, collection, one, row)))))
    if (name === '_not') return negated(holds(eyes, collection, part as Tree, row))
    if (isRelation(collection, name)) return relationHolds(eyes, collection, name, part as Tree, row)
    const type = shop.fields.get(collection)?.get(name)
    const value = eyes.value(collection, row, name)
    const isPlain = typeof part !== 'object' || part === null
    if (!isPlain && '_path' in part) return pathHolds(value, part as Tree)
    const tests = isPlain ? [['_eq', part] as const] : Object.entries(part)
    return all(tests.map(([operator, operand]) => operatorHolds(type, operator, operand, value)))
  })
  return all(truths)
}

const never: Tree = { _or: [] }

/** The filter without its tests of what the links may still change: it holds wherever the filter may come to hold. */
function loosened(collection: Name, filter: Tree, later: readonly Link[], instead: Tree = {}): Tree {
  const parts = Object.entries(filter).map(([name, part]): Tree => {
    if (name === '_and' || name === '_or')
      return { [name]: (part as Tree[]).map((one) => loosened(collection, one, later, instead)) }
    if (name === '_not') return { _not: loosened(collection, part as Tree, later, instead === never ? {} : never) }
    return mentions(collection, name, part, later) ? instead : { [name]: part }
  })
  return { _and: parts }
}

/** Whether a part of a filter, or anything in it, is about one of the links. */
function mentions(collection: Name, name: string, part: unknown, later: readonly Link[]): boolean {
  if (/^_(and|or|not|some|every|none)$/.test(name)) {
    return listOf(part).some((one) =>
      Object.entries(one).some(([key, inner]) => mentions(collection, key, inner, later)),
    )
  }
  if (!isRelation(collection, name)) return later.some(({ child, column }) => child === collection && column === name)
  if (linksOf(collection, name).some((link) => later.includes(link))) return true
  const target = targetOf(collection, name)
  return Object.entries(part as Tree).some(([key, inner]) => mentions(target, key, inner, later))
}

function relationHolds(eyes: Eyes, collection: Name, relation: string, part: Tree, row: Row): Truth {
  const related = eyes.related(collection, row, relation)
  if (related === undefined) return false
  const target = targetOf(collection, relation)
  const satisfying = (filter: Tree) => related.filter((one) => holds(eyes, target, filter, one) === true).length
  if (!isList(collection, relation)) return satisfying(part) > 0
  const { _some, _every, _none, ...bare } = part as Record<string, Tree | undefined>
  const isBare = Object.keys(bare).length > 0 || Object.keys(part).length === 0
  return (
    (!isBare || satisfying(bare as Tree) > 0) &&
    (_some === undefined || satisfying(_some) > 0) &&
    (_every === undefined || satisfying(_every) === related.length) &&
    (_none === undefined || satisfying(_none) === 0)
  )
}

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function negated(truth: Truth): Truth {
  return truth === null ? null : !truth
}
